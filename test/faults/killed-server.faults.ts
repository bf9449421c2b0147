/** Runs the contract suite of the pet repository over HTTP while the server is killed and started again. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { Client } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { openApiStorage } from '../../src/adapters/api-client/index.ts';
import type { PetRepository } from '../../src/application/ports/pet-repository.ts';
import { type Opened, petRepositoryContract } from '../../src/testing/index.ts';
import { freePort } from '../support/free-port.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../support/postgres/index.ts';
import { OPERATOR } from './keys.ts';
import { FaultsServer, newFolder } from './server.ts';

/** How long a case runs before the server is killed, in milliseconds. Most cases take longer. */
const LIFETIME = 20;

/** The server is killed during one case in this number, because a restart takes longer than most cases. */
const KILLED_CASE = 5;

interface Store {
  readonly url: string;
  /** Removes all pets, while the server runs. */
  empty(): Promise<void>;
}

function sqliteStore(folder: string): Store {
  const path = join(folder, 'pets.db');
  const empty = async (): Promise<void> => {
    const db = new Database(path);
    for (const table of ['pets', 'idempotency_records', 'sqlite_sequence']) db.exec(`DELETE FROM ${table}`);
    db.close();
  };
  return { url: `sqlite:${path}`, empty };
}

async function postgresStore(): Promise<Store> {
  const url = await newDatabaseUrl();
  const empty = async (): Promise<void> => {
    const client = new Client(url);
    await client.connect();
    await client.query('DELETE FROM pets; DELETE FROM idempotency_records');
    await client.end();
  };
  return { url, empty };
}

describe.each([
  ['SQLite', sqliteStore, true, ''],
  ['PostgreSQL', postgresStore, canRunPostgres, postgresNote],
] as const)('PetRepository over HTTP on %s', (_name, newStore, canRun, note) => {
  const folder = newFolder();
  let store: Store;
  let port: number;
  let server: FaultsServer;
  let kills = 0;

  const start = () => FaultsServer.start({ folder, port, env: { DATABASE_URL: store.url } });
  beforeAll(async () => {
    if (!canRun) return;
    store = await newStore(folder);
    port = await freePort();
    server = await start();
  });

  async function killAndRestart(): Promise<void> {
    await server.kill();
    kills += 1;
    server = await start();
  }

  const client = async (): Promise<Opened<PetRepository>> => {
    const storage = openApiStorage(`${server.origin}/v1`, { apiKey: OPERATOR, onDeprecation: () => {} });
    return { port: storage.pets, close: () => storage.close() };
  };
  const cases = petRepositoryContract({
    async open() {
      await store.empty();
      return client();
    },
    reopen: client,
    openSecond: client,
    // A restart takes longer than the time that the suite allows by default.
    visibilityTimeout: 10_000,
  });

  for (const [index, { name, run }] of cases.entries()) {
    const isKilled = index % KILLED_CASE === 0;
    test.skipIf(!canRun)(`${name}${isKilled ? ', while the server is killed' : ''}${note}`, async () => {
      const killing = isKilled ? sleep(LIFETIME).then(() => killAndRestart()) : undefined;
      await run().finally(() => killing);
    });
  }

  test.skipIf(!canRun)(`the server was killed again and again${note}`, () => {
    expect(kills).toBe(Math.ceil(cases.length / KILLED_CASE));
  });
});
