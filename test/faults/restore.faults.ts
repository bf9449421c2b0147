/** Restores of a backup that are killed. The storages and the command line have the other tests of restores. */

import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { randomNumbers } from '../../src/testing/random.ts';
import { wholeJson } from '../support/pets.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { storeWith } from './commands.ts';
import { ROUNDS, SEED } from './options.ts';
import { printTable } from './table.ts';

const PETS = 50_000;
const RESTORE = ['restore', '--force', 'backup.db'];

/** Returns whether the store is the restored one. Expects it to be sound, and to have one more pet if it is not. */
function isRestored(store: string): boolean {
  // A kill while SQLite ends WAL mode leaves a journal. A connection that may write rolls it back, as in every command.
  const db = new Database(store);
  const contents = db.prepare('SELECT name, count(*) AS count FROM pets GROUP BY name ORDER BY name').all();
  const soundness = db.pragma('integrity_check', { simple: true });
  db.close();
  const more = contents.length === 1 ? [] : [{ name: 'Later', count: 1 }];
  expect({ contents, soundness }, BROKEN_PROMISE).toEqual({
    contents: [...more, { name: 'Rex', count: PETS }],
    soundness: 'ok',
  });
  return contents.length === 1;
}

test(`a restore that is killed at any time, ${2 * ROUNDS} rounds of seed ${SEED}, leaves the old store or the restored one`, {
  timeout: 120_000 + ROUNDS * 20_000,
}, async () => {
  const random = randomNumbers(SEED);
  const work = await storeWith(PETS, 'Rex');
  const { store } = work;
  await work.output('backup', 'backup.db');
  const begin = performance.now();
  await work.output(...RESTORE);
  const duration = performance.now() - begin;
  let restored = 0;
  for (let round = 0; round < 2 * ROUNDS; round++) {
    if (isRestored(store))
      await work.outputHere(['import', '-'], wholeJson('{"name":"Later","categoryId":1}\n'));
    const { child, exit } = work.start(RESTORE);
    await sleep(random(duration));
    child.kill('SIGKILL');
    await exit;
    if (isRestored(store)) restored += 1;
  }
  printTable(`Restores that are killed, seed ${SEED}`, [
    ['rounds', 'restored', 'ms without a kill'],
    [2 * ROUNDS, restored, Math.round(duration)],
  ]);
  await work.output(...RESTORE);
  expect(isRestored(store)).toBe(true);
});
