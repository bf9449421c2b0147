/**
 * Makes a million calls, a third of them on each storage, and checks that the calls on each store fit one order. Storages
 * that servers share have two clients. Half of the stores get only creates and reads; the others also get changes and
 * removals, and are followed. Usage: `node test/million.ts [CALLS]`. It takes about ten minutes.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMemoryStorage } from '../src/adapters/memory/index.ts';
import { openPostgresStorage } from '../src/adapters/postgres/index.ts';
import { openSqliteStorage } from '../src/adapters/sqlite/index.ts';
import { AnimalStore } from '../src/application/animal-store.ts';
import { exerciseChanges } from '../src/testing/history/exercise-changes.ts';
import { exercise, History } from '../src/testing/index.ts';
import { startPostgres } from './support/postgres/server.ts';

type Storage = ReturnType<typeof openMemoryStorage>;
type Examine = (storages: readonly Storage[]) => Promise<void>;

const CALLS = Number(process.argv[2] ?? 1_000_000);
/** The maximum number of calls in one history, which is held in memory. */
const CALLS_OF_HISTORY = Math.min(50_000, Math.ceil(CALLS / 6));
const CLIENTS = 4;

/** A function for each storage: it calls `examine` with the clients of one new store. */
const STORES: readonly [string, (examine: Examine) => Promise<void>][] = [
  ['memory', (examine) => examine([openMemoryStorage()])],
  [
    'SQLite',
    async (examine) => {
      const folder = mkdtempSync(join(tmpdir(), 'animal-store-million-'));
      const path = join(folder, 'pets.db');
      await examine([openSqliteStorage(path), openSqliteStorage(path)]);
      rmSync(folder, { recursive: true });
    },
  ],
  [
    'PostgreSQL',
    async (examine) => {
      const server = await startPostgres();
      await examine([await openPostgresStorage(server.url), await openPostgresStorage(server.url)]);
      await server.close();
    },
  ],
];

/** Resolves with a description of a contradiction, if there is one. */
async function contradictionOf(
  storages: readonly Storage[],
  withChanges: boolean,
  seed: number,
): Promise<string | undefined> {
  const calls = Math.ceil(CALLS_OF_HISTORY / storages.length / CLIENTS);
  if (withChanges) return exerciseChanges(storages, { calls, clients: CLIENTS, seed });
  const history = new History();
  const stores = storages.map((storage) => new AnimalStore(storage));
  await exercise(history, stores, { calls, clients: CLIENTS, seed });
  for (const store of stores) await store.close();
  return history.contradiction();
}

let contradictions = 0;
for (const [name, withStore] of STORES) {
  let calls = 0;
  for (let seed = 1; calls < CALLS / STORES.length; seed += 1) {
    await withStore(async (storages) => {
      const contradiction = await contradictionOf(storages, seed % 2 === 0, seed);
      if (contradiction !== undefined) console.error(`${name}, seed ${seed}: ${contradiction}`);
      contradictions += contradiction === undefined ? 0 : 1;
      calls += CALLS_OF_HISTORY;
      for (const storage of storages) await storage.close();
    });
  }
  console.log(`${name}: ${calls} calls`);
}
console.log(`${contradictions === 0 ? 1 : 0} passed, ${contradictions} failed`);
process.exitCode = contradictions === 0 ? 0 : 1;
