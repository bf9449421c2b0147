/** Storages whose open files are removed, replaced or truncated by another program. The clock is under control. */

import { copyFileSync, cpSync, readdirSync, readlinkSync, renameSync, rmSync, type statSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { examineSqliteStore, restoreSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import type { StorageFaultReason } from '../../../src/application/ports/storage-fault.ts';
import { replaceFs, systemError } from '../../support/replace-fs.ts';
import { newStore, openStorage, REX, temporaryFile } from './temporary-file.ts';
import {
  allPets,
  controlClock,
  expectAddRefused,
  expectStays,
  expectStored,
  openWatched,
  passInterval,
} from './watched-storage.ts';

beforeEach(controlClock);

const rename = (path: string) => renameSync(path, `${path}.old`);
const remove = (path: string) => rmSync(path, { recursive: true });

function replaceByCopy(path: string): void {
  cpSync(path, `${path}.copy`, { recursive: true });
  rename(path);
  renameSync(`${path}.copy`, path);
}

const FAULTS: [string, harm: (path: string, other: string) => void, StorageFaultReason][] = [
  ['the file is removed', remove, 'file_missing'],
  ['another store is renamed over the file', (path, other) => renameSync(other, path), 'file_replaced'],
  ['the folder is renamed', (path) => rename(dirname(path)), 'file_missing'],
  ['the folder is replaced by a copy of itself', (path) => replaceByCopy(dirname(path)), 'file_replaced'],
  ['the write-ahead log is removed', (path) => remove(`${path}-wal`), 'file_missing'],
  ['the write-ahead log is replaced', (path) => replaceByCopy(`${path}-wal`), 'file_replaced'],
];

test.each(FAULTS)(
  '%s: adds are refused at once, and reads and checks from then on',
  async (...[name, harm, reason]) => {
    const { storage, path, states } = await openWatched();
    expect(await storage.pets.find(1n)).toBeDefined();
    harm(path, newStore());
    await expectAddRefused(storage);
    await expectStays(storage, reason);
    await expectAddRefused(storage);
    const file = /write-ahead/.test(name) ? '-wal file' : 'file';
    const message = expect.stringContaining(`the database ${file} was`);
    await expect(storage.pets.find(1n)).rejects.toMatchObject({ reason, message });
    expect(states).toEqual([reason]);
  },
);

test.each(FAULTS)('%s: reads are refused within half a second', async (...[, harm, reason]) => {
  const { storage, path, states } = await openWatched();
  expect(await storage.pets.list({ limit: 5 })).toMatchObject({ more: false });
  harm(path, newStore());
  await passInterval();
  await expect(storage.pets.list({ limit: 5 })).rejects.toMatchObject({ reason });
  expect(states).toEqual([reason]);
});

test.each(['the file', 'the write-ahead log', 'the folder'])(
  '%s is renamed and renamed back: nothing is lost, and the fault ends',
  async (name) => {
    const { storage, path, added, states } = await openWatched();
    const moved = { 'the file': path, 'the write-ahead log': `${path}-wal` }[name] ?? dirname(path);
    rename(moved);
    await expectAddRefused(storage);
    renameSync(`${moved}.old`, moved);
    await passInterval();
    await storage.check();
    added.push(await storage.pets.add(REX));
    expect(await allPets(storage)).toEqual(added);
    expect(states).toEqual([expect.stringMatching(/^file_(missing|replaced)$/), undefined]);
    await storage.close();
    await expectStored(path, added);
  },
);

test('the folder cannot be read: this is no missing file, the statistics lack the log, and the fault ends', async () => {
  const { storage, path, states } = await openWatched();
  let isReadable = false;
  const stat = replaceFs('statSync', ((file: string, options: object) => {
    if (file.startsWith(path) && !isReadable) throw systemError('EACCES');
    return stat(file, options);
  }) as typeof statSync);
  await expectStays(storage, 'io_error');
  const message = 'a file of the store cannot be accessed (EACCES)';
  await expect(storage.pets.find(1n)).rejects.toMatchObject({ message, cause: { code: 'EACCES' } });
  expect(storage.statistics?.()).toMatchObject({ waitingWrites: 0, logBytes: undefined });
  isReadable = true;
  await passInterval();
  expect(await storage.pets.find(1n)).toBeDefined();
  expect(states).toEqual(['io_error', undefined]);
});

test.skipIf(process.platform !== 'linux')(
  'a removed file is copied from the process that has it open, as docs/watch.md says, and nothing is lost',
  async () => {
    const { storage, path, added } = await openWatched();
    remove(path);
    await expectAddRefused(storage);
    const descriptors = readdirSync('/proc/self/fd').map((name) => `/proc/self/fd/${name}`);
    const open = descriptors.find((file) => linkOf(file) === `${path} (deleted)`) ?? '';
    const rescued = temporaryFile();
    copyFileSync(open, rescued);
    copyFileSync(`${path}-wal`, `${rescued}-wal`);
    const copy = openStorage(rescued);
    await copy.backup?.(`${rescued}.backup`);
    const files = readdirSync(dirname(path));
    const restore = () => restoreSqliteStore(path, `${rescued}.backup`, { overwrite: true });
    for (const end of [() => {}, () => storage.close()]) {
      await end();
      const message = expect.stringMatching(
        /is missing, .*: move the same file back .*, then move the log away$/,
      );
      await expect(restore()).rejects.toMatchObject({ code: 'storage_unavailable', message });
      const left = files.filter((file) => !/-shm$/.test(file));
      expect(readdirSync(dirname(path))).toEqual(expect.arrayContaining(left));
    }
    rename(`${path}-wal`);
    expect(await restore()).toMatchObject({ pets: added.length });
    await expectStored(path, added);
  },
);

/** The file of a descriptor, which can have been closed since the folder was read. */
function linkOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(descriptor);
  } catch {
    return undefined;
  }
}

test.each(['-wal', '-shm'])('a store whose %s was removed while it is open is not opened', async (suffix) => {
  const { storage, path, added } = await openWatched();
  rmSync(path + suffix);
  vi.useRealTimers();
  const message = expect.stringMatching(`${suffix} was removed .* before you stop it, see docs/watch.md$`);
  expect(() => openStorage(path)).toThrow(expect.objectContaining({ message }));
  expect(examineSqliteStore(path).problems).toContainEqual({ severity: 'error', message });
  await storage.close();
  await expectStored(path, added);
});
