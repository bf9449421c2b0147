/** The permissions of the files of a store, and of its backups. */

import { chmodSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { restoreSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { openStorage, REX, temporaryFile } from './temporary-file.ts';

function modesOf(...files: readonly string[]): string[] {
  return files.map((file) => (statSync(file).mode & 0o777).toString(8));
}

test.each([
  ['an open folder', 0o755, '600'],
  ['a folder with the set-group-ID bit', 0o2755, '640'],
])('in %s, a new store, its companions, its backups and a restored store', async (_, folder, mode) => {
  const path = temporaryFile();
  chmodSync(dirname(path), folder);
  const storage = openStorage(path);
  await storage.pets.add(REX);
  expect(modesOf(path, `${path}-wal`, `${path}-shm`)).toEqual([mode, mode, mode]);
  const copy = join(dirname(path), 'copy.db');
  await storage.backup?.(copy);
  chmodSync(path, 0o644);
  await storage.backup?.(copy, { overwrite: true });
  expect(modesOf(copy)).toEqual([mode]);
  chmodSync(path, Number.parseInt(mode, 8));
  await storage.close();

  chmodSync(copy, 0o644);
  rmSync(path);
  await restoreSqliteStore(path, copy);
  expect(modesOf(path)).toEqual([mode]);
});
