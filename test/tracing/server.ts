/** Starts the built server with the instrumentation of OpenTelemetry preloaded, as an operator does. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { registerKey } from '../support/canary.ts';
import { Client } from '../support/client.ts';
import { type Line, linesOf } from '../support/log-streams.ts';
import { newDatabaseUrl } from '../support/postgres/index.ts';
import { type Service, startService, temporaryFolder } from '../support/process.ts';
import type { StorageKind } from '../support/server.ts';
import type { Receiver } from './receiver.ts';

/** The arguments of Node.js that load the instrumentation. */
export const PRELOAD: readonly string[] = ['--import', '@opentelemetry/auto-instrumentations-node/register'];

export interface TracedService extends Service {
  /** A key of the store. */
  readonly key: string;
  /** Resolves with the line of the log that has this request id. */
  line(requestId: string): Promise<Line>;
}

/** Starts a server on an empty store, and makes a first request with its key. */
export async function startTraced(
  storage: StorageKind,
  receiver: Pick<Receiver, 'url'>,
  nodeArgs: readonly string[] = PRELOAD,
  env: Readonly<Record<string, string>> = {},
): Promise<TracedService> {
  const folder = temporaryFolder();
  const keyFile = join(folder, 'first-key');
  const service = await startService({
    // Node.js searches for the package that it preloads from the current folder.
    cwd: import.meta.dirname,
    nodeArgs,
    env: {
      DATABASE_URL: await databaseUrl(storage, folder),
      FIRST_KEY: `file:${keyFile}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_LOGS_EXPORTER: 'none',
      OTEL_NODE_RESOURCE_DETECTORS: 'env',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      ...env,
    },
  });
  const key = readFileSync(keyFile, 'utf8').trim();
  registerKey(key);
  const client = new Client(service.origin, key);
  onTestFinished(() => client.close());
  await client.get('/v1/pets');
  // The SDK can write its own messages to standard error.
  const log = () => service.out.stderr.replaceAll(/^[^{].*\n/gm, '');
  const findLine = (id: string) => linesOf(log()).find(({ requestId }) => requestId === id);
  return {
    ...service,
    client,
    key,
    async line(requestId) {
      await expect.poll(() => findLine(requestId)).toBeDefined();
      return findLine(requestId) as Line;
    },
  };
}

async function databaseUrl(storage: StorageKind, folder: string): Promise<string> {
  if (storage === 'postgres') return await newDatabaseUrl();
  return storage === 'memory' ? 'memory:' : `sqlite:${join(folder, 'pets.db')}`;
}
