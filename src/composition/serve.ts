import { type HttpServer, sunsetNotice } from '../adapters/http/index.ts';
import type { Config } from './config.ts';
import type { Prepared } from './prepare.ts';

/** A listening server. */
export interface Serving {
  /** The base URL of the API, such as `http://127.0.0.1:3000/v1`. */
  readonly url: string;
  /** Logs that the server listens. */
  announce(): void;
  /** Stops the server. Waits at most `timeout` milliseconds for the requests in flight. Does not close the store. */
  stop(timeout: number): Promise<void>;
}

/** Starts to listen for requests to a prepared store. Resolves when clients can connect. */
export async function serve({ config, log, parts }: Prepared, version: string): Promise<Serving> {
  const url = `${await listen(parts.server, config)}/v1`;
  const announce = (): void => {
    log.info({ url, version, storage: config.database.scheme, node: process.version }, 'listening');
    const notice = sunsetNotice(Date.now());
    if (notice !== undefined) log.warn(notice);
  };
  return { url, announce, stop: (timeout) => parts.server.stop(timeout) };
}

/** What the codes of the most common errors mean. Each is followed by the code and the settings to change. */
const LISTEN_FAULTS: Readonly<Record<string, (host: string, port: number) => readonly [string, string]>> = {
  EACCES: (host, port) => [`port ${port} of ${host} needs a privilege`, 'PORT or --port'],
  EADDRINUSE: (host, port) => [`port ${port} of ${host} is used by another program`, 'PORT or --port'],
  EADDRNOTAVAIL: (host) => [`${host} is not an address of this machine`, 'HOST or --host'],
  EAI_AGAIN: (host) => [`the host name ${host} cannot be resolved`, 'HOST or --host'],
  ENOTFOUND: (host) => [`the host name ${host} cannot be resolved`, 'HOST or --host'],
};

/** Starts to listen, and explains the most common errors. */
async function listen(server: Pick<HttpServer, 'listen'>, { host, port }: Config): Promise<string> {
  try {
    return await server.listen(port, host);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const fault = LISTEN_FAULTS[code]?.(host, port);
    if (fault === undefined) throw error;
    const [what, settings] = fault;
    throw new Error(`${what} (${code}): select another one with ${settings}`, { cause: error });
  }
}
