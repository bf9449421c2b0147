/** The deadlines of writes while another process holds the lock of the database file. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Storage } from '../../../../src/application/ports/storage.ts';
import type { Pet } from '../../../../src/domain/pet.ts';
import { stopClock, until } from '../../../support/clock.ts';
import { connect } from '../../../support/sqlite.ts';
import { REX, temporaryFile } from '../temporary-file.ts';
import { addMany, assertStored, openWarm } from '../warm-storage.ts';

/** How long an add may wait, in milliseconds. */
const DEADLINE = 5000;

/** Adds pets, and counts those that were refused because they had to wait. None may be stored. */
async function addRefused(storage: Storage, count: number): Promise<{ refused: number }> {
  const counts = { refused: 0 };
  for (const add of addMany(storage, count)) {
    void expect(add)
      .rejects.toMatchObject({
        code: 'storage_unavailable',
        message: expect.stringContaining('nothing was stored'),
      })
      .then(() => counts.refused++);
  }
  await nextTurn();
  return counts;
}

test('each of 3,000 adds is refused at its own deadline, and never stored later', async () => {
  const path = temporaryFile();
  const { storage } = await openWarm(path);
  const other = connect(path);
  other.exec('BEGIN IMMEDIATE');
  const clock = stopClock();
  const first = await addRefused(storage, 2500);
  clock.pass(1000);
  const second = await addRefused(storage, 500);
  clock.pass(DEADLINE - 1001);
  await nextTurn();
  expect(first.refused).toBe(0);
  clock.pass(1);
  await until(() => first.refused === 2500);
  clock.pass(999);
  await nextTurn();
  expect(second.refused).toBe(0);
  clock.pass(1);
  await until(() => second.refused === 500);
  await expect(storage.check()).rejects.toMatchObject({ reason: 'locked' });
  other.exec('COMMIT');
  expect((await storage.pets.add(REX)).id).toBe(2n);
  expect((await storage.pets.list({ limit: 100 })).pets.map(({ id }) => id)).toEqual([1n, 2n]);
  clock.pass(1000);
  await storage.check();
});

test('later adds of the same batch keep their own deadline and their order', async () => {
  const path = temporaryFile();
  const { storage } = await openWarm(path);
  const other = connect(path);
  other.exec('BEGIN IMMEDIATE');
  const clock = stopClock();
  const early = await addRefused(storage, 3);
  clock.pass(50);
  const middle = await addRefused(storage, 3);
  clock.pass(2000);
  const late = addMany(storage, 1500);
  clock.pass(DEADLINE - 2000);
  await until(() => early.refused + middle.refused === 6);
  other.exec('COMMIT');
  const added = await Promise.all(late);
  expect(added.map(({ name }) => name)).toEqual(added.map((_, index) => `pet ${index}`));
  expect(added.map(({ id }) => id)).toEqual(added.map((_, index) => BigInt(index + 2)));
  await assertStored(storage, [added[0] as Pet, added[1499] as Pet]);
});
