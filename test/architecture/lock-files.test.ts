/** `npm ci` needs neither Python nor a compiler, and its output does not hide a warning that matters. */

import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { completed, lockFileFaults } from '../../scripts/lock-file.ts';
import { ROOT, read } from '../manuals/manuals.ts';
import { temporaryFolder } from '../support/process.ts';

const FILES = globSync('{package-lock.json,bench/package-lock.json,test/*/package-lock.json}', { cwd: ROOT });
const OWN = read('package-lock.json');

test('the lock files are all checked', () => expect(FILES.length).toBeGreaterThan(5));

test.each(FILES)('%s has no fault', (file) => {
  expect(lockFileFaults(read(file), dirname(join(ROOT, file)))).toEqual([]);
});

test.each([
  ['"gypfile": false', '"inBundle": false', 'node_modules/better-sqlite3: npm ci would compile it'],
  ['"gypfile": false', '"gypfile": true', 'node_modules/better-sqlite3: npm ci would compile it'],
  ['"gypfile": false', '"gypfile": false, "resolved": "https://example.org/a.tgz"', 'names a registry'],
  ['"gypfile": false', '"gypfile": false, "deprecated": "use another"', 'is deprecated: use another'],
])('%s replaced by %s is found', (text, other, fault) => {
  const broken = OWN.replace(text, other);
  expect(broken).not.toBe(OWN);
  expect(lockFileFaults(broken, ROOT)).toEqual([expect.stringContaining(fault)]);
});

test('an installed package that npm ci would compile is found', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'node_modules/addon'), { recursive: true });
  writeFileSync(join(folder, 'node_modules/addon/binding.gyp'), '{}');
  const lock = (entry: object) => JSON.stringify({ packages: { '': {}, 'node_modules/addon': entry } });
  expect(lockFileFaults(lock({ gypfile: false }), folder)).toEqual([]);
  expect(lockFileFaults(lock({}), folder)).toEqual([
    'node_modules/addon: npm ci would compile it; run npm run lock',
  ]);
});

test('npm run lock restores the line that npm install removes', () => {
  const without = OWN.replace(/,\n *"gypfile": false/, '');
  expect(without).not.toBe(OWN);
  expect(lockFileFaults(completed(without), ROOT)).toEqual([]);
  expect(JSON.parse(completed(without))).toEqual(JSON.parse(OWN));
  expect(completed(OWN)).toBe(OWN);
});
