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
    const found = await apiKeys.find(key);
    expect(found).toMatchObject({ id: about.id, revokedAt: undefined });
    // A cached key is the same object.
    expect(await apiKeys.find(key)).toBe(found);
    setRevoked.run(1n, about.id);
    await nextTurn();
    expect(await apiKeys.find(key)).toMatchObject({ id: about.id, revokedAt: 1 });
    setRevoked.run(null, about.id);
    await nextTurn();
  }
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
