/** Restores while another process has the database file locked or is waiting for it. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, linkSync, renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openSqliteStorage, restoreSqliteStore } from '../../../../src/adapters/sqlite/index.ts';
import { ExclusiveStore } from '../../../../src/adapters/sqlite/maintenance/exclusive-store.ts';
import { makeStore, newStore, openStorage, temporaryFile } from '../temporary-file.ts';

const DRIVER = fileURLToPath(
  new URL('../../../../node_modules/better-sqlite3/lib/index.js', import.meta.url),
);

/** Opens the store in another process, which holds its connection until it is killed. Resolves when it is open. */
async function openElsewhere(path: string): Promise<() => Promise<void>> {
  const script = `
    import Database from ${JSON.stringify(DRIVER)};
    const db = new Database(${JSON.stringify(path)});
    db.prepare('SELECT count(*) FROM pets').get();
    console.log('open');
    setInterval(() => db.open, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
  };
}

async function backupOf(path: string): Promise<string> {
  const file = temporaryFile();
  const storage = openSqliteStorage(path, { startWriter: false });
  await storage.backup?.(file);
  await storage.close();
  return file;
}

test('a store that is idle in another process is in use', async () => {
  const path = newStore(3);
  const backup = await backupOf(path);
  const end = await openElsewhere(path);
  await expect(restoreSqliteStore(path, backup, { overwrite: true })).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: `${path} is in use by another process: stop the server before the restore`,
  });
  await end();
  expect(await restoreSqliteStore(path, backup, { overwrite: true })).toMatchObject({ pets: 3 });
});

test('while the lock is held, the store cannot be opened', async () => {
  const path = newStore(1);
  const exclusive = new ExclusiveStore(path, true);
  expect(() => openSqliteStorage(path)).toThrow('the database is locked by another process');
  const copy = `${path}.copy`;
  makeStore(copy, 2);
  expect(exclusive.replaceBy(copy)).toEqual([]);
  exclusive.release();
  const storage = openStorage(path);
  expect((await storage.pets.list({ limit: 5 })).pets).toHaveLength(2);
});

test('a store that another process creates in the meantime is not replaced', async () => {
  const path = temporaryFile();
  const exclusive = new ExclusiveStore(path, false);
  makeStore(path, 1);
  const copy = `${path}.copy`;
  makeStore(copy, 2);
  expect(() => exclusive.replaceBy(copy)).toThrow('is in use by another process');
  exclusive.release();
  expect((await openStorage(path).pets.list({ limit: 5 })).pets).toHaveLength(1);
});

test('a file that was replaced while it was opened is refused', async () => {
  const [path, other] = [temporaryFile(), temporaryFile()];
  makeStore(path, 1);
  makeStore(other, 2);
  // Leaves the journal mode WAL, as a restore does.
  new ExclusiveStore(path, true).release();
  linkSync(path, `${path}.old`);
  const original = Database.prototype.defaultSafeIntegers;
  vi.spyOn(Database.prototype, 'defaultSafeIntegers').mockImplementationOnce(function (
    this: Database.Database,
  ) {
    renameSync(other, path);
    return original.call(this, true);
  });
  expect(() => openSqliteStorage(path)).toThrow('the file was replaced while it was opened: start again');
  expect(existsSync(`${path}-wal`)).toBe(false);
  expect((await openStorage(path).pets.list({ limit: 5 })).pets).toHaveLength(2);
});

test('progress is reported up to 1', async () => {
  const path = newStore(3);
  const backup = await backupOf(path);
  const shares: number[] = [];
  await restoreSqliteStore(path, backup, { overwrite: true, onProgress: (share) => shares.push(share) });
  expect(shares.at(-1)).toBe(1);
});
