/** Common helpers of the SQLite tests. Their files are deleted at the end of each test. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { openReader, prepareDatabase } from '../../../src/adapters/sqlite/database.ts';
import { Health } from '../../../src/adapters/sqlite/health.ts';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import { filesOf } from '../../../src/adapters/sqlite/store-files.ts';
import type { Observer } from '../../../src/application/ports/observer.ts';
import type { TransferOptions } from '../../../src/application/ports/pet-transfer.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { NewPet } from '../../../src/domain/pet.ts';

export const REX: NewPet = { name: 'Rex', categoryId: 1n, status: 'available' };

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function temporaryFile(): string {
  return join(temporaryFolder(), 'pets.db');
}

/** Opens a storage that is closed before its file is deleted. */
export function openStorage(path: string = temporaryFile()): Storage {
  const storage = openSqliteStorage(path);
  onTestFinished(() => storage.close());
  return storage;
}

/** Returns the health of a store that stays open until the end of the test. */
export function openHealth(path: string = temporaryFile(), observer: Observer = {}): Health {
  prepareDatabase(path);
  const db = openReader(path);
  onTestFinished(() => {
    db.close();
  });
  return new Health(filesOf(path), observer);
}

/** Opens a connection of another program. */
export function connect(path: string): Database.Database {
  const db = new Database(path).defaultSafeIntegers(true);
  onTestFinished(() => {
    db.close();
  });
  return db;
}

/** Creates the file of a store, and closes it. */
export async function makeStore(path: string, pets = 0): Promise<void> {
  const storage = openSqliteStorage(path);
  await Promise.all(Array.from({ length: pets }, () => storage.pets.add(REX)));
  await storage.close();
}

/** The options of an import whose pets have no ids. */
export const NO_DUPLICATES: TransferOptions = {
  onDuplicateId(pet) {
    throw new Error(`unexpected duplicate id ${pet.id}`);
  },
};

export function bytesOf(path: string): string {
  return readFileSync(path).toString('base64');
}
