/** These tests mount a file system, and are skipped when the user cannot mount one. */

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, type TestContext, test } from 'vitest';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { bytesOf, makeStore, openStorage, REX, temporaryFolder } from './temporary-file.ts';

const LONG = { ...REX, name: '🐈'.repeat(255) };

function mountTmpfs(skip: TestContext['skip'], size: string): string {
  const folder = join(temporaryFolder(), 'disk');
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    skip('this user cannot mount a file system');
  }
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', folder]);
  });
  return folder;
}

function remount(folder: string, option: string): void {
  execFileSync('mount', ['-o', `remount,${option}`, folder]);
}

test('on a full disk every acknowledged add is stored, and the others reject', async ({ skip }) => {
  const folder = mountTmpfs(skip, '2m');
  const path = join(folder, 'pets.db');
  const storage = openSqliteStorage(path);
  const added: Pet[] = [];
  const codes: string[] = [];
  for (let round = 0; round < 40; round++) {
    const adds = Array.from({ length: 50 }, () => storage.pets.add(LONG));
    for (const each of await Promise.allSettled(adds)) {
      if (each.status === 'fulfilled') added.push(each.value);
      else codes.push(`${each.reason.code} ${each.reason.reason}`);
    }
  }
  expect(added.length).toBeGreaterThan(0);
  expect(codes.length).toBeGreaterThan(0);
  expect(new Set(codes)).toEqual(new Set(['storage_unavailable disk_full']));
  for (const pet of added) expect(await storage.pets.find(pet.id)).toEqual(pet);

  remount(folder, 'size=16m');
  added.push(await storage.pets.add(LONG));
  await storage.close();
  const again = openStorage(path);
  for (const pet of added) expect(await again.pets.find(pet.id)).toEqual(pet);
  let stored = 0;
  for (let after = 0n, more = true; more; ) {
    const page = await again.pets.list({ limit: 100, after });
    stored += page.pets.length;
    more = page.more;
    after = page.pets.at(-1)?.id ?? after;
  }
  expect(stored).toBe(added.length);
});

test('a store on a read-only file system is refused, and the error names it', async ({ skip }) => {
  const folder = mountTmpfs(skip, '2m');
  const path = join(folder, 'pets.db');
  await makeStore(path, 3);
  remount(folder, 'ro');
  const before = bytesOf(path);
  for (const each of [path, join(folder, 'new.db'), join(folder, 'new', 'new.db')]) {
    expect(() => openSqliteStorage(each)).toThrow(
      expect.objectContaining({ code: 'storage_unavailable', message: expect.stringContaining(each) }),
    );
  }
  expect(bytesOf(path)).toBe(before);
});
