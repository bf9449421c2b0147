import { type HttpServer, sunsetNotice } from '../adapters/http/index.ts';
import type { Config } from './config.ts';
import type { Prepared } from './prepare.ts';

/** A listening server. */
export interface Serving {
  /** The base URL of the API, such as `http://127.0.0.1:3000/v1`. */
  readonly url: string;
  /** Stops the server. Waits at most `timeout` milliseconds for the requests in flight. Does not close the store. */
  stop(timeout: number): Promise<void>;
}

/** Starts to listen for requests to a prepared store. Resolves when clients can connect. */
export async function serve({ config, log, parts }: Prepared, version: string): Promise<Serving> {
  const url = `${await listen(parts.server, config)}/v1`;
  log.info({ url, version, storage: config.database.scheme, node: process.version }, 'listening');
  const notice = sunsetNotice(Date.now());
  if (notice !== undefined) log.warn(notice);
  return { url, stop: (timeout) => parts.server.stop(timeout) };
}

/** Starts to listen, and explains the most common error: another program uses the port. */
async function listen(server: Pick<HttpServer, 'listen'>, { host, port }: Config): Promise<string> {
  try {
    return await server.listen(port, host);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new Error(
      `port ${port} of ${host} is used by another program (EADDRINUSE): select another port with PORT or --port`,
      { cause: error },
    );
  }
}
