/** Restores of a backup that are killed. The storages and the command line have the other tests of restores. */

import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { examineSqliteStore, openSqliteStorage } from '../../src/adapters/sqlite/index.ts';
import { addPets, makeStore, REX } from '../adapters/sqlite/temporary-file.ts';
import { endOf, Workspace } from '../e2e/workspace.ts';
import { ROUNDS, SEED } from './options.ts';
import { Random } from './random.ts';
import { printTable } from './table.ts';

const PETS = 50_000;
const STREAM = 0x7265_7374;

/** Returns whether the store is the restored one. Expects it to be sound, and to have one pet more otherwise. */
function isRestored(store: string): boolean {
  const db = new Database(store, { readonly: true });
  const contents = db.prepare('SELECT name, count(*) AS count FROM pets GROUP BY name ORDER BY name').all();
  db.close();
  const more = contents.length === 1 ? [] : [{ name: 'Later', count: 1 }];
  expect(contents).toEqual([...more, { name: REX.name, count: PETS }]);
  expect(examineSqliteStore(store)).toMatchObject({ isSound: true, pets: PETS + more.length });
  return contents.length === 1;
}

test(`a restore that is killed at any time, ${2 * ROUNDS} rounds of seed ${SEED}, leaves the old store or the restored one`, {
  timeout: 120_000 + ROUNDS * 20_000,
}, async () => {
  const random = new Random(SEED, STREAM);
  const work = new Workspace();
  makeStore(work.store, PETS);
  const storage = openSqliteStorage(work.store, { startWriter: false });
  await storage.backup?.(work.path('backup.db'));
  await storage.close();
  const startRestore = () => work.start(['restore', '--force', 'backup.db']);
  const begin = performance.now();
  expect((await endOf(startRestore())).status).toBe(0);
  const duration = performance.now() - begin;
  let restored = 0;
  for (let round = 0; round < 2 * ROUNDS; round++) {
    if (isRestored(work.store)) addPets(work.store, 1, { ...REX, name: 'Later' });
    const restoring = startRestore();
    await sleep(random.between(0, duration));
    restoring.child.kill('SIGKILL');
    expect((await endOf(restoring)).err).toBe('');
    if (isRestored(work.store)) restored += 1;
  }
  printTable(`Restores that are killed, seed ${SEED}`, [
    ['rounds', 'restored', 'ms without a kill'],
    [2 * ROUNDS, restored, Math.round(duration)],
  ]);
  expect((await endOf(startRestore())).status).toBe(0);
  expect(isRestored(work.store)).toBe(true);
});
