/** What the tests of the SQLite adapter share: files that are gone when the test is over. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { openReader, prepareDatabase } from '../../src/adapters/sqlite/database.ts';
import { Health, type OnStateChange } from '../../src/adapters/sqlite/health.ts';
import { openSqliteStorage } from '../../src/adapters/sqlite/storage.ts';
import { filesOf } from '../../src/adapters/sqlite/store-files.ts';
import type { Storage } from '../../src/application/ports.ts';
import type { NewPet } from '../../src/domain/pet.ts';

export const REX: NewPet = { name: 'Rex', categoryId: 1n, status: 'available' };

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function temporaryFile(): string {
  return join(temporaryFolder(), 'pets.db');
}

/** A storage that is closed before its file goes. */
export function openStorage(path: string = temporaryFile()): Storage {
  const storage = openSqliteStorage(path);
  onTestFinished(() => storage.close());
  return storage;
}

/** The health of a store that is open until the end of the test. */
export function openHealth(path: string = temporaryFile(), onStateChange?: OnStateChange): Health {
  prepareDatabase(path);
  const db = openReader(path);
  onTestFinished(() => {
    db.close();
  });
  return new Health(filesOf(path), onStateChange);
}

/** A connection of somebody else. */
export function connect(path: string): Database.Database {
  const db = new Database(path).defaultSafeIntegers(true);
  onTestFinished(() => {
    db.close();
  });
  return db;
}

/** Makes a store's file, with nothing open on it. */
export async function makeStore(path: string, pets = 0): Promise<void> {
  const storage = openSqliteStorage(path);
  await Promise.all(Array.from({ length: pets }, () => storage.pets.add(REX)));
  await storage.close();
}

export function bytesOf(path: string): string {
  return readFileSync(path).toString('base64');
}
