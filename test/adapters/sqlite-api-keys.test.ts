import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { ApiKeys } from '../../src/application/api-keys.ts';
import { connect, openStorage, temporaryFile } from './sqlite-file.ts';

const DAY = 24 * 60 * 60 * 1000;

test('a revocation by another connection counts from the next turn on', async () => {
  const path = temporaryFile();
  const { apiKeys } = openStorage(path);
  const { key, about } = await new ApiKeys(apiKeys).create('ci');
  const other = connect(path);
  const setRevoked = other.prepare('UPDATE api_keys SET revoked_at = ? WHERE id = ?');
  for (let time = 0; time < 5; time++) {
    expect(await apiKeys.verify(key)).toMatchObject({ id: about.id });
    setRevoked.run(1n, about.id);
    await nextTurn();
    expect(await apiKeys.verify(key)).toBeUndefined();
    setRevoked.run(null, about.id);
    await nextTurn();
  }
});

test('a key that another storage added, replaced or revoked is followed at once', async () => {
  const path = temporaryFile();
  const { apiKeys } = openStorage(path);
  const manager = new ApiKeys(openStorage(path).apiKeys);
  const old = await manager.create('ci');
  await nextTurn();
  expect(await apiKeys.verify(old.key)).toMatchObject({ id: old.about.id });
  const next = await manager.rotate(old.about.id, 0);
  await nextTurn();
  expect(await apiKeys.verify(old.key)).toBeUndefined();
  expect(await apiKeys.verify(next.key)).toMatchObject({ id: next.about.id });
  await manager.revoke(next.about.id);
  await nextTurn();
  expect(await apiKeys.verify(next.key)).toBeUndefined();
});

test('of several storages that race to add the first key, one does', async () => {
  const path = temporaryFile();
  const storages = [openStorage(path), openStorage(path), openStorage(path)];
  const issued = await Promise.all(storages.map(({ apiKeys }) => new ApiKeys(apiKeys).createFirst('first')));
  expect(issued.filter((key) => key !== undefined)).toHaveLength(1);
  await nextTurn();
  for (const { apiKeys } of storages) expect(await apiKeys.list()).toHaveLength(1);
});

test('a key that is kept as good still expires', async () => {
  const { apiKeys } = openStorage();
  const { key } = await new ApiKeys(apiKeys).create('ci', Date.now() + DAY);
  expect(await apiKeys.verify(key)).toBeDefined();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY });
  try {
    expect(await apiKeys.verify(key)).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

test('a use is noted again on the next day, once a day', async () => {
  const path = temporaryFile();
  const { apiKeys } = openStorage(path);
  const { key } = await new ApiKeys(apiKeys).create('ci');
  const noted = async () => (await apiKeys.list())[0]?.lastUsedOn;
  const midnight = new Date().setUTCHours(0, 0, 0, 0) + DAY;
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    for (const day of [midnight, midnight + DAY]) {
      for (const time of [day, day + 1, day + DAY - 1]) {
        vi.setSystemTime(time);
        expect(await apiKeys.verify(key)).toBeDefined();
        while ((await noted()) !== day) await nextTurn();
      }
    }
  } finally {
    vi.useRealTimers();
  }
});

test('more keys than are kept are all good', async () => {
  const { apiKeys } = openStorage();
  const manager = new ApiKeys(apiKeys);
  const issued = await Promise.all(
    Array.from({ length: 1100 }, (_, index) => manager.create(`key ${index}`)),
  );
  for (const { key, about } of [...issued, ...issued.slice(0, 10)]) {
    expect(await apiKeys.verify(key)).toMatchObject({ id: about.id });
  }
});

test('no file of the store has a key in it', async () => {
  const path = temporaryFile();
  const storage = openStorage(path);
  const { key, about } = await new ApiKeys(storage.apiKeys).create('ci');
  await storage.apiKeys.verify(key);
  await new ApiKeys(storage.apiKeys).rotate(about.id, DAY);
  const files = readdirSync(dirname(path)).map((name) => readFileSync(join(dirname(path), name), 'latin1'));
  expect(files.some((text) => text.includes(about.hint))).toBe(true);
  for (const text of files) expect(text).not.toContain(key.slice(about.hint.length, about.hint.length + 8));
});
