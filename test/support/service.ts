/** Starts the service in this process, as the command `serve` does. */

import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { servedOperations } from '../../src/adapters/http/lifecycle.ts';
import type { Operation } from '../../src/adapters/http/operations.ts';
import { ConfigError, type Environment } from '../../src/composition/config/settings.ts';
import { loadConfig } from '../../src/composition/config.ts';
import { type Service, startService } from '../../src/composition/serve.ts';
import { checked } from './answer-checks.ts';
import { registerKey } from './canary.ts';
import { Client } from './client.ts';
import { newDatabaseUrl } from './postgres/index.ts';
import { temporaryFolder } from './process.ts';
import type { StorageKind } from './server.ts';

const URL_OF = {
  memory: () => 'memory:',
  sqlite: (folder: string) => `sqlite:${join(folder, 'pets.db')}`,
  postgres: newDatabaseUrl,
} satisfies Record<StorageKind, (folder: string) => unknown>;

/** Returns the environment of a service on a new storage. */
export async function environmentOf(
  kind: StorageKind,
  folder: string = temporaryFolder(),
): Promise<Environment> {
  const DATABASE_URL = await URL_OF[kind](folder);
  return { PORT: '0', LOG_LEVEL: 'silent', SHUTDOWN_TIMEOUT_MS: '100', DATABASE_URL };
}

/** Starts a service that is stopped at the end of the test. */
export async function startInProcess(environment: Environment): Promise<Service> {
  const service = await startService(loadConfig(environment), '1.0.0');
  if (service.firstKey !== undefined) registerKey(service.firstKey.key);
  onTestFinished(() => service.stop());
  return service;
}

/** Returns a client of the service. By default, it uses the first key, and expects the operations of a server without options. */
export function clientOf(
  { url, firstKey }: Service,
  key: string | undefined = firstKey?.key,
  operations: readonly Operation[] = servedOperations(),
): Client {
  const client = new Client(new URL(url).origin, key ?? '', (answer, asked) =>
    checked(answer, asked, operations),
  );
  onTestFinished(() => client.close());
  return client;
}

/** Returns the message of the `ConfigError` with which a configuration is refused. */
export function configFault(load: () => unknown): string {
  try {
    load();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('the configuration was accepted');
}
