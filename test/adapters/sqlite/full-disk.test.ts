/** These tests mount a file system, and are skipped when the user cannot mount one. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { canMount, mountNote, SmallDisk } from '../../support/small-disk.ts';
import { bytesOf, makeStore, REX } from './temporary-file.ts';
import { allPets, controlClock, expectStays, expectStored, passInterval } from './watched-storage.ts';

const LONG = { ...REX, name: '🐈'.repeat(255) };

test.skipIf(!canMount)(
  `on a full disk every acknowledged add is stored, and the others reject${mountNote}`,
  async () => {
    const disk = new SmallDisk('2m');
    const path = join(disk.folder, 'pets.db');
    controlClock();
    const storage = openSqliteStorage(path);
    const added: Pet[] = [];
    const codes: string[] = [];
    for (let round = 0; round < 40; round++) {
      const adds = Array.from({ length: 50 }, () => storage.pets.add(LONG));
      for (const each of await Promise.allSettled(adds)) {
        if (each.status === 'fulfilled') added.push(each.value);
        else codes.push(`${each.reason.code} ${each.reason.reason}`);
      }
    }
    expect(added.length).toBeGreaterThan(0);
    expect(codes.length).toBeGreaterThan(0);
    expect(new Set(codes)).toEqual(new Set(['storage_unavailable disk_full']));
    expect(await allPets(storage)).toEqual(added);

    await expectStays(storage, 'disk_full');
    disk.resize('16m');
    const isReady = async () => {
      await passInterval();
      return storage.check().catch(() => 'not ready');
    };
    await expect.poll(isReady, { interval: 50 }).toBeUndefined();
    added.push(await storage.pets.add(LONG));
    await storage.close();
    await expectStored(path, added);
  },
);

test.skipIf(!canMount)(
  `a store on a read-only file system is refused, and the error names it${mountNote}`,
  () => {
    const disk = new SmallDisk('2m');
    const { folder } = disk;
    const path = join(folder, 'pets.db');
    makeStore(path, 3);
    disk.makeReadOnly();
    const before = bytesOf(path);
    for (const each of [path, join(folder, 'new.db'), join(folder, 'new', 'new.db')]) {
      expect(() => openSqliteStorage(each)).toThrow(
        expect.objectContaining({ code: 'storage_unavailable', message: expect.stringContaining(each) }),
      );
    }
    expect(bytesOf(path)).toBe(before);
  },
);
