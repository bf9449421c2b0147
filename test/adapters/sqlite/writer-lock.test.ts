import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { AnimalStoreError } from '../../../src/domain/errors.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { connect, openStorage, REX, temporaryFile } from './temporary-file.ts';
import { addMany, assertStored, openWarm } from './warm-storage.ts';

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
    await storage.check();
    other.exec('COMMIT');
    const next = await timed(storage.pets.add(REX));
    expect(next).toMatchObject({ isAdded: true });
    expect(next.ms).toBeLessThan(500);
    expect((await storage.pets.list({ limit: 100 })).pets.map(({ id }) => id)).toEqual([1n, 2n]);
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

  test('a storage can be closed, and accepted adds are refused at their deadline', async () => {
    const path = temporaryFile();
    const { storage } = await openWarm(path);
    const other = connect(path);
    other.exec('BEGIN IMMEDIATE');
    const adds = addMany(storage, 3).map(timed);
    const start = performance.now();
    await storage.close();
    expect(performance.now() - start).toBeLessThan(5900);
    for (const each of await Promise.all(adds)) expect(each.code).toBe('storage_unavailable');
    other.exec('COMMIT');
    expect((await openStorage(path).pets.list({ limit: 5 })).pets).toHaveLength(1);
  });
});
