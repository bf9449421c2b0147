import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openLastingStorage, storageFiles } from '../../src/composition/storage.ts';

function pathOfStore(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'animal-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'pets.db');
}

test('a storage for one errand must outlive it', async () => {
  await expect(openLastingStorage({ kind: 'memory' }, false)).rejects.toMatchObject({ name: 'ConfigError' });
  const path = pathOfStore();
  await expect(openLastingStorage({ kind: 'sqlite', path }, true)).rejects.toMatchObject({
    code: 'storage_unavailable',
  });
  const made = await openLastingStorage({ kind: 'sqlite', path }, false);
  const { id } = await made.pets.add({ name: 'Rex', categoryId: 1n, status: 'sold' });
  await made.close();
  const opened = await openLastingStorage({ kind: 'sqlite', path }, true);
  expect(await opened.pets.find(id)).toMatchObject({ name: 'Rex' });
  await opened.close();
});

test('the files of a storage are named before there are any', async () => {
  const path = pathOfStore();
  expect(await storageFiles({ kind: 'memory' })).toEqual([]);
  const files = await storageFiles({ kind: 'sqlite', path });
  expect(files).toEqual(expect.arrayContaining([path, `${path}-wal`, `${path}-shm`, `${path}-journal`]));
});
