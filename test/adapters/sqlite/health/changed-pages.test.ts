/** Storages whose file is truncated or overwritten in place by another program. */

import { closeSync, copyFileSync, openSync, statSync, truncateSync, writeSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { newStore, REX } from '../temporary-file.ts';
import {
  controlClock,
  expectAddRefused,
  expectStays,
  expectStored,
  openWatched,
  passInterval,
} from '../watched-storage.ts';

beforeEach(controlClock);

describe('a store of many pages', () => {
  test.each([
    ['to nothing', 0],
    ['to one page', 4096],
    ['in the middle of a page', 3 * 4096 + 100],
  ])('that is truncated %s accepts no further add', async (_, size) => {
    const path = newStore(3000);
    const { storage, states } = await openWatched(path);
    truncateSync(path, size);
    await expectAddRefused(storage);
    await expectStays(storage, 'damaged');
    expect(states).toEqual(['damaged']);
  });

  test('whose pages are overwritten is found damaged, even if no request reads them', async () => {
    const path = newStore(3000);
    const { storage, states } = await openWatched(path);
    await storage.check();
    const file = openSync(path, 'r+');
    const size = statSync(path).size - 4096;
    writeSync(file, Buffer.alloc(size, 0xa5), 0, size, 4096);
    closeSync(file);
    await expectStays(storage, 'damaged');
    expect(states).toEqual(['damaged']);
  });

  test.each([
    ['a small store', 1],
    ['a large store', 3000],
  ])('keeps all acknowledged adds when %s is copied into its file', async (_, pets) => {
    const other = newStore(pets);
    const { storage, path, added } = await openWatched();
    copyFileSync(other, path);
    for (let times = 0; times < 3; times++) {
      const pet = await storage.pets.add(REX).catch(() => undefined);
      await passInterval();
      if (pet === undefined) await expect(storage.check()).rejects.toMatchObject({ reason: 'damaged' });
      else added.push(pet);
    }
    await storage.close();
    // The start may fail, because the loss of pets is reported in this case.
    await expectStored(path, added).catch((error: unknown) => {
      expect(error).toMatchObject({
        code: 'storage_unavailable',
        message: expect.stringContaining('damaged'),
      });
    });
  });
});
