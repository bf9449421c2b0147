/** Opens a store, starts its server, creates the first API key, and logs what an operator should know. */

import type { RunningService } from '../adapters/cli/index.ts';
import { sunsetNotice } from '../adapters/http/portable.ts';
import { flushLog } from '../adapters/log/index.ts';
import type { Config } from './config.ts';
import { openParts, type Parts } from './container.ts';

/** A service that accepts connections. */
export interface Service extends RunningService {
  readonly log: Parts['log'];
}

/** Opens the store and starts the server. If a step fails, closes the server and the store, and rejects. */
export async function startService(config: Config, version: string): Promise<Service> {
  const { bun, deno } = process.versions;
  if (bun !== undefined || deno !== undefined) {
    throw new Error('the server runs on Node.js: here, mount createFetchHandler, as docs/mounting.md shows');
  }
  return serve(await openParts(config, version), config, version);
}

/** Like `startService`, but with parts that are already open. Closes the parts if a step fails. */
export async function serve(parts: Parts, config: Config, version: string): Promise<Service> {
  const { log, store } = parts;
  const { scheme: storage, place } = config.database;
  const stop = async (): Promise<void> => {
    log.info('stopping');
    await parts.close(config.shutdownTimeout);
    log.info('stopped');
    await flushLog();
  };
  try {
    const url = `${await listen(parts, config)}/v1`;
    store.startMaintenance();
    const how = config.apiKeys.length === 0 ? config.firstKey : 'none';
    // Created only after `listen` succeeds: if the key were stored first and `listen` failed, the operator would never see it.
    const firstKey = how === 'print' ? await store.apiKeys.createFirst('first key') : undefined;
    if (how === 'unseen' && (await store.apiKeys.list()).length === 0) log.warn(UNSEEN);
    log.info({ url, version, storage, store: place, node: process.version }, 'listening');
    for (const notice of [publicPortNotice(url), sunsetNotice(Date.now()), ...config.misspellings])
      if (notice !== undefined) log.warn(notice);
    let stopped: Promise<void> | undefined;
    return {
      ...(firstKey !== undefined && { firstKey }),
      url,
      store: place,
      hasConfiguredKeys: config.apiKeys.length > 0,
      stop: () => (stopped ??= stop()),
      log,
    };
  } catch (error) {
    await parts.close(0);
    throw error;
  }
}

const UNSEEN =
  'FIRST_KEY: no key was created, because standard output is closed or the null device: create one with animal-store keys create, with the same settings';

async function listen({ server }: Parts, { host, port }: Config): Promise<string> {
  try {
    return await server.listen(port, host);
  } catch (cause) {
    const reason = `cannot listen on port ${port} of ${host}: ${(cause as Error).message}`;
    throw new Error(`${reason}: select another port or address with PORT and HOST, or --port and --host`, {
      cause,
    });
  }
}

/** Matches URLs with an address of a loopback, private or link-local network. */
const INTERNAL =
  /^http:\/\/\[?(?:127\.|10\.|172\.(?:1[6-9]|2\d|3[01])\.|192\.168\.|169\.254\.|::1\]|::ffff:127\.|f[cd]|fe[89ab])/;

/** Returns a warning if other networks may reach the URL, because a public port needs a proxy that limits rates and connections. */
export function publicPortNotice(url: string): string | undefined {
  if (INTERNAL.test(url)) return undefined;
  return `HOST: ${url} may be reached from other networks: let only a reverse proxy connect to it, because a public port without one is not supported`;
}
