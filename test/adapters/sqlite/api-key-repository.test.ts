import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ApiKeys } from '../../../src/application/api-keys.ts';
import { connect } from '../../support/sqlite.ts';
import { openStorage, temporaryFile } from './temporary-file.ts';

const DAY = 24 * 60 * 60 * 1000;

test('a revocation by another connection is seen in the next turn', async () => {
  const path = temporaryFile();
  const { apiKeys } = openStorage(path);
  const { key, about } = await new ApiKeys(apiKeys).create('ci');
  const setRevoked = connect(path).prepare('UPDATE api_keys SET revoked_at = ? WHERE id = ?');
  for (let times = 0; times < 5; times++) {
    expect(await apiKeys.find(key)).toMatchObject({ id: about.id, revokedAt: undefined });
    setRevoked.run(1n, about.id);
    await nextTurn();
    expect(await apiKeys.find(key)).toMatchObject({ id: about.id, revokedAt: 1 });
    setRevoked.run(null, about.id);
    await nextTurn();
  }
});

test('a found key is the same object until any connection writes', async () => {
  const path = temporaryFile();
  const { apiKeys } = openStorage(path);
  const { key } = await new ApiKeys(apiKeys).create('ci');
  const found = await apiKeys.find(key);
  await nextTurn();
  expect(await apiKeys.find(key)).toBe(found);
  connect(path).exec('UPDATE api_keys SET last_used_on = 0');
  await nextTurn();
  expect(await apiKeys.find(key)).not.toBe(found);
  expect(await apiKeys.find(key)).toMatchObject({ lastUsedOn: 0 });
});

test('requests of a turn with the same key read its row once', async () => {
  const { apiKeys } = openStorage();
  const { key } = await new ApiKeys(apiKeys).create('ci');
  await nextTurn();
  const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => apiKeys.find(key)));
  expect(first).toBeDefined();
  for (const other of others) expect(other).toBe(first);
});

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
