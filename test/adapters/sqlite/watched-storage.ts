/** Storages whose files another program changes, and what their observer is notified of. The clock is under control. */

import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, onTestFinished, vi } from 'vitest';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { StorageFaultReason } from '../../../src/application/ports/storage-fault.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { walk } from '../../../src/testing/fixtures/pets.ts';
import { temporaryFolder } from '../../support/process.ts';
import { REX } from './temporary-file.ts';
import { addMany } from './warm-storage.ts';

/** The minimum time between two checks of the files and between two tests of the storage, in milliseconds. */
const CHECK_INTERVAL = 500;

export interface Watched {
  readonly storage: Storage;
  readonly path: string;
  /** The pets that were added, in ascending order of id. */
  readonly added: Pet[];
  /** The states that the observer was notified of. The state of a storage without a fault is `undefined`. */
  readonly states: readonly (StorageFaultReason | undefined)[];
}

/** Replaces the clock until the end of the test, so that tests do not wait for checks, and no check is too early. */
export function controlClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/**
 * Lets so much time pass that the next read and the next check test the storage. All reads of one turn of the event loop
 * share a transaction, so the next read is in another turn.
 */
export async function passInterval(): Promise<void> {
  vi.advanceTimersByTime(CHECK_INTERVAL);
  await nextTurn();
}

/** Opens a store in a folder that can be removed, and adds some pets. */
export async function openWatched(
  path: string = join(temporaryFolder(), 'data', 'pets.db'),
  pets = 5,
): Promise<Watched> {
  const states: (StorageFaultReason | undefined)[] = [];
  const onStorageState = (fault?: { readonly reason: StorageFaultReason }) => states.push(fault?.reason);
  const storage = openSqliteStorage(path, { observer: { onStorageState } });
  onTestFinished(() => storage.close());
  return { storage, path, added: await Promise.all(addMany(storage, pets)), states };
}

export function allPets({ pets }: Storage): Promise<Pet[]> {
  return walk(pets, { limit: 100 });
}

export async function expectStored(path: string, added: readonly Pet[]): Promise<void> {
  const storage = openSqliteStorage(path, { startWriter: false });
  expect(await allPets(storage)).toEqual(added);
  await storage.close();
}

export async function expectAddRefused({ pets }: Storage): Promise<void> {
  const error: unknown = await pets.add(REX).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'storage_unavailable' });
  expect(String(error)).not.toContain('pets.db');
}

/** Expects each of several checks to test the storage, and to find the same fault. */
export async function expectStays(storage: Storage, reason: StorageFaultReason): Promise<void> {
  for (let times = 0; times < 4; times++) {
    await passInterval();
    await expect(storage.check()).rejects.toMatchObject({ reason });
  }
}
