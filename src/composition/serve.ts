import type { RunningService } from '../adapters/cli/index.ts';
import { type HttpServer, sunsetNotice } from '../adapters/http/api/index.ts';
import { type Config, DEFAULT_DATABASE } from './config.ts';
import { openParts, type Parts } from './container.ts';
import type { SelectedDatabase } from './databases/database.ts';
import { createFirstKey } from './first-key.ts';

/** A service that accepts connections. */
export interface Service extends RunningService, Pick<Parts, 'failure'> {
  logUncaughtError(error: unknown): void;
  logProcessWarning(warning: Error): void;
}

/** Opens the store and starts the server. If a step fails, closes the server and the store, and rejects. */
export async function startService(config: Config, version: string): Promise<Service> {
  const { bun, deno } = process.versions;
  if (bun !== undefined || deno !== undefined) {
    throw new Error('the server runs on Node.js: here, mount createFetchHandler, as docs/runtimes.md shows');
  }
  return serve(await openParts(config, version), config, version);
}

/** Like `startService`, with parts that are open. Closes the parts if a step fails. */
export async function serve(parts: Parts, config: Config, version: string): Promise<Service> {
  const { log, store, server } = parts;
  const stop = async (): Promise<void> => {
    log.info('stopping');
    await parts.close(config.shutdownTimeout);
    log.info('stopped');
  };
  try {
    const url = `${await listen(server, config)}/v1`;
    store.startMaintenance();
    // If the key were created before `listen` fails, the operator would never see it.
    const created = await createFirstKey(config, store);
    const { scheme: storage, place } = config.database;
    log.info(
      { url, version, storage, store: place, workers: parts.threads, node: process.version },
      'listening',
    );
    if (parts.threads < config.workers) {
      log.warn(
        `WORKERS: one thread serves instead of ${config.workers}, because threads share a port on Linux only`,
      );
    }
    const notice = sunsetNotice(Date.now());
    if (notice !== undefined) log.warn(notice);
    let stopped: Promise<void> | undefined;
    return {
      ...created,
      url,
      store: place,
      databaseUrl: urlForHints(config.database),
      hasConfiguredKeys: config.apiKeys.length > 0,
      stop: () => (stopped ??= stop()),
      logUncaughtError: (err) => log.fatal({ err }, 'uncaught error'),
      logProcessWarning: (warning) => log.warn({ err: warning }, 'warning of the runtime or of a package'),
      failure: parts.failure,
    };
  } catch (error) {
    await parts.close(0);
    throw error;
  }
}

/** The absolute path, because the user can be in another folder. */
function urlForHints(database: SelectedDatabase): string | undefined {
  if (database === DEFAULT_DATABASE) return undefined;
  return `${database.scheme}:${database.scheme === 'sqlite' ? database.place : ''}`;
}

/** What the most common errors mean, and the settings to change. */
const LISTEN_FAULTS: Readonly<Record<string, (host: string, port: number) => readonly [string, string]>> = {
  EACCES: (host, port) => [`port ${port} of ${host} needs a privilege`, 'PORT or --port'],
  EADDRINUSE: (host, port) => [`port ${port} of ${host} is used by another program`, 'PORT or --port'],
  EADDRNOTAVAIL: (host) => [`${host} is not an address of this machine`, 'HOST or --host'],
  EAI_AGAIN: (host) => [`the host name ${host} cannot be resolved`, 'HOST or --host'],
  ENOTFOUND: (host) => [`the host name ${host} cannot be resolved`, 'HOST or --host'],
};

async function listen(server: HttpServer, { host, port }: Config): Promise<string> {
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
