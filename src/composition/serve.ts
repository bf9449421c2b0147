/** Starts a server on its store, with its first key, and says what an operator should know. */

import { BlockList, isIP, isIPv6 } from 'node:net';
import type { RunningService } from '../adapters/cli/index.ts';
import { type HttpServer, sunsetNotice } from '../adapters/http/portable.ts';
import { type Config, DEFAULT_STORE } from './config.ts';
import { openParts, type Parts } from './container.ts';

/** A service that accepts connections. */
export interface Service extends RunningService {
  logUncaughtError(error: unknown): void;
  logProcessWarning(warning: Error): void;
}

/** Opens the store and starts the server. If a step fails, closes the server and the store, and rejects. */
export async function startService(config: Config, version: string): Promise<Service> {
  const { bun, deno } = process.versions;
  if (bun !== undefined || deno !== undefined) {
    throw new Error('the server runs on Node.js: here, mount createFetchHandler, as docs/mounting.md shows');
  }
  return serve(await openParts(config, version), config, version);
}

/** Like `startService`, with parts that are open. Closes the parts if a step fails. */
export async function serve(parts: Parts, config: Config, version: string): Promise<Service> {
  const { log, store, server } = parts;
  const { scheme: storage, place, address, source } = config.database;
  const stop = async (): Promise<void> => {
    log.info('stopping');
    await parts.close(config.shutdownTimeout);
    log.info('stopped');
  };
  try {
    const url = `${await listen(server, config)}/v1`;
    store.startMaintenance();
    const needsKey = config.apiKeys.length === 0 && config.firstKey === 'print';
    // If the key were created before `listen` fails, the operator would never see it.
    const firstKey = needsKey ? await store.apiKeys.createFirst('first key') : undefined;
    log.info({ url, version, storage, store: place, node: process.version }, 'listening');
    for (const notice of [publicPortNotice(config.host), sunsetNotice(Date.now())]) {
      if (notice !== undefined) log.warn(notice);
    }
    let stopped: Promise<void> | undefined;
    return {
      ...(firstKey !== undefined && { firstKey }),
      url,
      store: place,
      databaseUrl: source === DEFAULT_STORE ? undefined : address,
      hasConfiguredKeys: config.apiKeys.length > 0,
      stop: () => (stopped ??= stop()),
      logUncaughtError: (err) => log.fatal({ err }, 'uncaught error'),
      logProcessWarning: (warning) => log.warn({ err: warning }, 'warning of the runtime or of a package'),
    };
  } catch (error) {
    await parts.close(0);
    throw error;
  }
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

/** Loopback, private and link-local networks. */
const INTERNAL = new BlockList();
const NETWORKS =
  '127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 ::1/128 fc00::/7 fe80::/10';
for (const network of NETWORKS.split(' ')) {
  const [address = '', prefix] = network.split('/');
  INTERNAL.addSubnet(address, Number(prefix), isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Returns a warning where everybody may connect: such a port needs a proxy that limits rates and connections. */
export function publicPortNotice(host: string): string | undefined {
  const [address = ''] = host.split('%');
  const isInternal = isIP(address) !== 0 && INTERNAL.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  if (isInternal || address === 'localhost') return undefined;
  return `HOST: ${host} may be reached from other networks: let only a reverse proxy connect to it, because a public port without one is not supported`;
}
