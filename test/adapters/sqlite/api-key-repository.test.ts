import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Reads } from '../../../src/adapters/sqlite/reads.ts';
import { Writer } from '../../../src/adapters/sqlite/writer.ts';
import { ApiKeys } from '../../../src/application/api-keys.ts';
import { addPets, openStorage, REX, temporaryFile } from './temporary-file.ts';

const DAY = 24 * 60 * 60 * 1000;

test('no file of the store contains a key', async () => {
  const path = temporaryFile();
  const storage = openStorage(path);
  const { key, about } = await new ApiKeys(storage.apiKeys).create('ci');
  await storage.apiKeys.find(key);
  await new ApiKeys(storage.apiKeys).rotate(about.id, DAY);
  const files = readdirSync(dirname(path)).map((name) => readFileSync(join(dirname(path), name), 'latin1'));
  expect(files.some((text) => text.includes(about.prefix))).toBe(true);
  for (const text of files)
    expect(text).not.toContain(key.slice(about.prefix.length, about.prefix.length + 8));
});

test('a found key is cached until the store changes, with up to 999 others', async () => {
  const path = temporaryFile();
  const { apiKeys, statistics } = openStorage(path);
  const names = Array.from({ length: 1001 }, (_, index) => `key ${index}`);
  const about = { name: 'n', prefix: 'p', createdAt: 1 };
  await Promise.all(names.map((name) => apiKeys.add(name, about)));
  const find = async (...keys: string[]) => {
    const before = statistics?.().keys?.misses ?? 0;
    for (const key of keys) await apiKeys.find(key);
    return (statistics?.().keys?.misses ?? 0) - before;
  };
  expect(await find('key 0', 'key 0', 'unknown', 'unknown')).toBe(3);
  addPets(path, 1, REX);
  expect(await find('key 0', 'key 0')).toBe(1);
  expect(await find(...names.slice(0, 1000), ...names.slice(0, 1000))).toBe(999);
  expect(await find('key 1000', 'key 0')).toBe(2);
  expect(statistics?.().keys?.hits).toBe(1 + 1 + 1 + 1000);
});

test('a rotation and a revocation need no read after the commit', async () => {
  const { apiKeys } = openStorage(temporaryFile());
  const about = { name: 'n', prefix: 'p', createdAt: 1 };
  const old = await apiKeys.add('old', about);
  const { storeWrite } = Writer.prototype;
  onTestFinished(() => void vi.restoreAllMocks());
  vi.spyOn(Writer.prototype, 'storeWrite').mockImplementation(async function (this: Writer, ...write) {
    const written = await storeWrite.apply(this, write);
    vi.spyOn(Reads.prototype, 'read').mockRejectedValue(new Error('the disk fails'));
    return written;
  });
  const successor = await apiKeys.replace(old, 5, 'new', { ...about, createdAt: 2 });
  expect(successor).toMatchObject({ ...about, createdAt: 2, callerId: old.id });
  vi.mocked(Reads.prototype.read).mockRestore();
  const revoked = { ...successor, revokedAt: 7, isReadOnly: false };
  expect(await apiKeys.revoke(successor?.id ?? '', 7)).toEqual(revoked);
  vi.mocked(Reads.prototype.read).mockRestore();
  expect(await apiKeys.list()).toMatchObject([{ expiresAt: 5 }, { ...successor, revokedAt: 7 }]);
});
