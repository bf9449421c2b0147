/** Runs the contract suite of the pet repository over HTTP while the server is killed and started again. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApiStorage } from '../../../src/adapters/api-client/index.ts';
import type { PetRepository } from '../../../src/application/ports/pet-repository.ts';
import { type Opened, petRepositoryContract } from '../../../src/testing/index.ts';
import { freePort } from '../../support/free-port.ts';
import { KilledServer } from '../../support/killed-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
const path = join(folder, 'pets.db');
let server: KilledServer;

beforeAll(async () => {
  server = await KilledServer.start(folder, `sqlite:${path}`, await freePort());
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

function client(): Opened<PetRepository> {
  const storage = openApiStorage(server.base, { apiKey: server.key, onDeprecation: () => {} });
  return { port: storage.pets, close: () => storage.close() };
}

const cases = petRepositoryContract({
  async open() {
    const db = new Database(path);
    for (const table of ['pets', 'idempotency_records', 'sqlite_sequence']) db.exec(`DELETE FROM ${table}`);
    db.close();
    return client();
  },
  reopen: async () => client(),
  openSecond: async () => client(),
  visibilityTimeout: 5000,
});

for (const { name, run } of cases) {
  test(`${name}, while the server is killed`, async () => {
    const killing = sleep(20).then(() => server.killAndRestart());
    await run().finally(() => killing);
  });
}

test('the server was killed once for each case', () => {
  expect(server.kills).toBe(cases.length);
});
