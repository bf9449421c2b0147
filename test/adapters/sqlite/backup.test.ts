import { execFileSync } from 'node:child_process';
import {
  existsSync,
  fstatSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { examineSqliteBackup } from '../../../src/adapters/sqlite/index.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { refusal } from '../../support/refusal.ts';
import { refuseToOpen, replaceFs, systemError, watchSyncs } from '../../support/replace-fs.ts';
import { bytesOf, countIn, execute, newStore, openStorage, REX, temporaryFile } from './temporary-file.ts';

/** Makes a store whose copy takes several steps of 1,000 pages. */
const FILL = 'INSERT INTO probe (data) VALUES (zeroblob(12000000))';

/** Opens a store, and names the file of its backup. */
function openStore(pets = 0, sql = '') {
  const path = newStore(pets);
  execute(path, sql);
  const folder = dirname(path);
  return { path, folder, storage: openStorage(path), file: join(folder, 'copy.db') };
}

async function backUp(storage: Storage, ...[file, options]: Parameters<NonNullable<Storage['backup']>>) {
  if (storage.backup === undefined) throw new Error('SQLite has a backup');
  await storage.backup(file, options);
}

test('a backup has the state at one moment after its call, while others write', async () => {
  const { path, storage, file } = openStore(1, FILL);
  await storage.pets.add(REX);
  const shares: number[] = [];
  const adding: Promise<unknown>[] = [];
  await backUp(storage, file, {
    onProgress(share) {
      shares.push(share);
      for (let times = 0; times < 5; times++) adding.push(storage.pets.add(REX));
    },
  });
  await Promise.all(adding);
  expect(shares.length).toBeGreaterThan(2);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect(shares.every((share) => share >= 0 && share <= 1)).toBe(true);
  expect(countIn(file)).toBe(2n);
  expect(countIn(path)).toBe(2n + BigInt(adding.length));
});

test.each(['before', 'during'])(
  'a store that is replaced %s a backup keeps its older backup',
  async (time) => {
    const { path, storage, file } = openStore(2, FILL);
    await backUp(storage, file);
    const before = bytesOf(file);
    const replace = () => renameSync(newStore(1), path);
    if (time === 'before') replace();
    const backingUp = backUp(storage, file, { overwrite: true, onProgress: replace });
    await expect(backingUp).rejects.toMatchObject({ reason: 'file_replaced' });
    expect(bytesOf(file)).toBe(before);
  },
);

test('a store with a relative path stays the same after the working directory has changed', async () => {
  const [own, other, folder] = [newStore(2), newStore(1), process.cwd()];
  onTestFinished(() => process.chdir(folder));
  process.chdir(dirname(own));
  const storage = openStorage(basename(own));
  process.chdir(dirname(other));
  await storage.pets.add(REX);
  expect(storage.statistics?.().logBytes).toBeGreaterThan(0);
  await backUp(storage, 'copy.db');
  expect(countIn('copy.db')).toBe(3n);
});

const NOT_REGULAR = / is not a regular file: a backup needs the path of a file$/;

test.each([true, false])(
  'a file that another program creates during a backup is unchanged, and no other is left: with hard links %s',
  async (hasLinks) => {
    const { folder, storage, file } = openStore(1, FILL);
    if (!hasLinks)
      replaceFs('linkSync', () => {
        throw systemError('EPERM');
      });
    const onProgress = () => writeFileSync(file, 'precious');
    await expect(backUp(storage, file, { onProgress })).rejects.toThrow(refusal(`${file} exists already`));
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
    await backUp(storage, `${file}.other`);
    expect(countIn(`${file}.other`)).toBe(1n);
  },
);

test('a file of the store is refused by any name, also one that does not exist', async () => {
  const { path, folder, storage } = openStore(2);
  await storage.pets.add(REX);
  for (const name of ['', '-wal', '-shm']) {
    linkSync(path + name, join(folder, `hard${name}`));
    symlinkSync(path + name, join(folder, `soft${name}`));
  }
  const before = readdirSync(folder);
  for (const name of [...before, 'pets.db-journal']) {
    const file = join(folder, name);
    const refused = refusal(`${file} belongs to the store`);
    await expect(backUp(storage, file, { overwrite: true })).rejects.toThrow(refused);
  }
  expect(readdirSync(folder)).toEqual(before);
  expect(countIn(path)).toBe(3n);
});

test('an error names the store and the file', async () => {
  const { path, folder, storage, file } = openStore();
  const missing = join(folder, 'missing', 'file.db');
  const refused = refusal(new RegExp(`^cannot back up ${path} to ${missing}: ENOENT`), 'storage_unavailable');
  await expect(backUp(storage, missing)).rejects.toThrow(refused);
  expect(existsSync(dirname(missing))).toBe(false);
  renameSync(path, `${path}.away`);
  await expect(backUp(storage, file)).rejects.toMatchObject({ cause: expect.stringMatching(`^${path} was`) });
  expect(readdirSync(folder)).not.toContain('pets.db');
});

test('standard output and whatever else is not a regular file is refused', async () => {
  const { folder, storage, file } = openStore();
  // A test that fails must not replace a file of the machine, such as /dev/null.
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const before = readdirSync(folder);
  for (const name of ['-', '/dev/fd/1', '/proc/self/fd/1', pipe, folder, `${file}/`])
    await expect(backUp(storage, name, { overwrite: true })).rejects.toThrow(refusal(NOT_REGULAR));
  expect(readdirSync(folder)).toEqual(before);
});

test('a store that another server has open is not replaced, even if this server has written nothing', async () => {
  const [{ storage, file }, other] = [openStore(), newStore(1)];
  const server = openStorage(other);
  const refused = refusal(`${other}-wal exists: a server may have ${other} open as its store`);
  await expect(backUp(storage, other, { overwrite: true })).rejects.toThrow(refused);
  await server.pets.add(REX);
  await server.close();
  expect(countIn(other)).toBe(2n);
  writeFileSync(`${file}-shm`, '');
  await expect(backUp(storage, file)).rejects.toThrow(refusal(/-shm exists: a server/));
});

test('an exception of onProgress ends the backup, and the caller gets it unchanged', async () => {
  const { folder, storage, file } = openStore(1);
  for (const thrown of [new Error('the reason'), 'a text', undefined]) {
    const onProgress = () => {
      throw thrown;
    };
    const [result] = await Promise.allSettled([backUp(storage, file, { onProgress })]);
    expect(result.status === 'rejected' && result.reason).toBe(thrown);
  }
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual([]);
});

test('a backup into a folder that cannot be read fails before the copy gets its name', async () => {
  const { folder, storage, file } = openStore(1);
  refuseToOpen(folder);
  const refused = refusal(/^cannot back up .*: EACCES$/, 'storage_unavailable');
  for (const overwrite of [false, true])
    await expect(backUp(storage, file, { overwrite })).rejects.toThrow(refused);
  expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual([]);
});

test('an abort and close end the wait for a disk that does not finish the fsync of the copy', async () => {
  const { folder, storage, file } = openStore(1);
  let synced = Promise.withResolvers<void>();
  const disk = Promise.withResolvers<void>();
  await watchSyncs(() => {
    synced.resolve();
    return disk.promise;
  });
  const [controller, reason] = [new AbortController(), new Error('the reason')];
  const aborted = expect(backUp(storage, file, { signal: controller.signal })).rejects.toBe(reason);
  await synced.promise;
  controller.abort(reason);
  await aborted;
  synced = Promise.withResolvers<void>();
  const closed = expect(backUp(storage, file)).rejects.toThrow('the store is closed');
  await synced.promise;
  await storage.close();
  await closed;
  expect(readdirSync(folder)).toEqual(['pets.db']);
  // The garbage collector must not find an open file.
  disk.resolve();
});

test('the copy is durable before it gets its name, and the name before the backup resolves', async () => {
  const { storage, file } = openStore(1);
  const synced: { readonly descriptor: number; readonly isFolder: boolean; readonly isNamed: boolean }[] = [];
  await watchSyncs((descriptor) => {
    synced.push({ descriptor, isFolder: fstatSync(descriptor).isDirectory(), isNamed: existsSync(file) });
  });
  await backUp(storage, file);
  expect(synced).toMatchObject([
    { isFolder: false, isNamed: false },
    { isFolder: true, isNamed: true },
  ]);
  for (const { descriptor } of synced) expect(() => fstatSync(descriptor)).toThrow('EBADF');
});

test('a backup needs no files beside it, and doctor names what a killed one leaves', async () => {
  const path = newStore(2);
  const backup = temporaryFile();
  await openStorage(path).backup?.(backup);
  // The write and read versions of the file format: 2 would mean WAL mode.
  expect([...readFileSync(backup).subarray(18, 20)]).toEqual([1, 1]);
  const left = ['partial', 'partial-wal'].map((suffix) => `${backup}.1234.${suffix}`);
  for (const file of left) writeFileSync(file, '');
  const warnings = left.map((file) => ({
    severity: 'warning',
    message: expect.stringContaining(`${file} `),
  }));
  expect(examineSqliteBackup(path, backup).problems).toEqual(warnings);
});
