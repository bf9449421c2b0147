/** The deadlines of writes in real time, while another process holds the lock of the database file. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { AnimalStoreError } from '../../src/domain/errors.ts';
import type { Pet } from '../../src/domain/pet.ts';
import { REX, temporaryFile } from '../adapters/sqlite/temporary-file.ts';
import { addMany, assertStored, openWarm } from '../adapters/sqlite/warm-storage.ts';
import { connect } from '../support/sqlite.ts';

describe('while another process holds the lock', () => {
  interface Settled {
    readonly isAdded: boolean;
    /** Milliseconds from the call. */
    readonly ms: number;
    readonly code?: string;
    readonly message?: string;
  }

  async function timed(add: Promise<Pet>): Promise<Settled> {
    const start = performance.now();
    try {
      await add;
      return { isAdded: true, ms: performance.now() - start };
    } catch (error) {
      const { code, message } = error as AnimalStoreError;
      return { isAdded: false, ms: performance.now() - start, code, message };
    }
  }

  test('each of 3,000 adds is refused at its own deadline, and never stored later', async () => {
    const path = temporaryFile();
    const { storage } = await openWarm(path);
    const other = connect(path);
    other.exec('BEGIN IMMEDIATE');
    const first = addMany(storage, 2500).map(timed);
    await sleep(1000);
    const second = addMany(storage, 500).map(timed);
    const settled = await Promise.all([...first, ...second]);
    for (const each of settled) {
      expect(each).toMatchObject({ isAdded: false, code: 'storage_unavailable' });
      expect(each.message).toContain('nothing was stored');
      expect(each.ms).toBeGreaterThan(4800);
      expect(each.ms).toBeLessThan(5900);
    }
    await expect(storage.check()).rejects.toMatchObject({ reason: 'locked' });
    other.exec('COMMIT');
    const next = await timed(storage.pets.add(REX));
    expect(next).toMatchObject({ isAdded: true });
    expect(next.ms).toBeLessThan(500);
    expect((await storage.pets.list({ limit: 100 })).pets.map(({ id }) => id)).toEqual([1n, 2n]);
    await storage.check();
  });

  test('later adds of the same batch keep their own deadline and their order', async () => {
    const path = temporaryFile();
    const { storage } = await openWarm(path);
    const other = connect(path);
    other.exec('BEGIN IMMEDIATE');
    const early = addMany(storage, 3).map(timed);
    await sleep(50);
    const middle = addMany(storage, 3).map(timed);
    await sleep(2000);
    const late = addMany(storage, 1500);
    await sleep(3500);
    other.exec('COMMIT');
    for (const each of await Promise.all([...early, ...middle])) {
      expect(each.isAdded).toBe(false);
      expect(each.ms).toBeLessThan(5900);
    }
    const added = await Promise.all(late);
    expect(added.map(({ name }) => name)).toEqual(added.map((_, index) => `pet ${index}`));
    expect(added.map(({ id }) => id)).toEqual(added.map((_, index) => BigInt(index + 2)));
    await assertStored(storage, [added[0] as Pet, added[1499] as Pet]);
  });
});
