/** Common helpers of the PostgreSQL tests. What they open is closed at the end of each test. */

import { Client } from 'pg';
import { onTestFinished } from 'vitest';
import { openPostgresStorage, type PostgresOptions } from '../../../src/adapters/postgres/index.ts';
import type { CreateAttempt } from '../../../src/application/ports/create-attempt.ts';
import type { TransferOptions } from '../../../src/application/ports/pet-transfer.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { NewPet, Pet } from '../../../src/domain/pet.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres/index.ts';

export const REX: NewPet = { name: 'Rex', categoryId: 1n, status: 'available' };

/** The options of an import whose pets have no ids. */
export const NO_DUPLICATES: TransferOptions = {
  onDuplicateId(pet) {
    throw new Error(`unexpected duplicate id ${pet.id}`);
  },
};

export function named(name: string): NewPet {
  return { ...REX, name };
}

export function attemptWith(key: string): CreateAttempt {
  const at = Date.now();
  return { caller: '1', key, at, validFrom: at - 60_000 };
}

export async function openStorage(url: string, options?: PostgresOptions): Promise<Storage> {
  const storage = await openPostgresStorage(url, options);
  onTestFinished(() => storage.close());
  return storage;
}

/** Opens a connection of another program. */
export async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

export async function startServer(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
  const server = await startPostgres({ settings });
  onTestFinished(() => server.close());
  return server;
}

/** Returns the URL with other parts. */
export function changed(
  url: string,
  parts: Partial<URL>,
  query: Readonly<Record<string, string>> = {},
): string {
  const result = Object.assign(new URL(url), parts);
  for (const [name, value] of Object.entries(query)) result.searchParams.set(name, value);
  return result.href;
}

export async function walk(storage: Storage, limit = 100): Promise<readonly Pet[]> {
  const pets: Pet[] = [];
  for (;;) {
    const page = await storage.pets.list({ limit, after: pets.at(-1)?.id });
    pets.push(...page.pets);
    if (!page.more) return pets;
  }
}

/** Calls a function, and returns its result or its error, and how long it took in milliseconds. */
export async function timed<T>(call: () => Promise<T>): Promise<{ result?: T; error?: unknown; ms: number }> {
  const startedAt = performance.now();
  const passed = () => performance.now() - startedAt;
  return await call().then(
    (result) => ({ result, ms: passed() }),
    (error: unknown) => ({ error, ms: passed() }),
  );
}
