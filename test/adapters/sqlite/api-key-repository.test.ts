import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ApiKeys } from '../../../src/application/api-keys.ts';
import { openStorage, temporaryFile } from './temporary-file.ts';

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
