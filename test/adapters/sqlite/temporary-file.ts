/** Common helpers of the SQLite tests. Their files are deleted at the end of each test. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished } from 'vitest';
import { prepareDatabase } from '../../../src/adapters/sqlite/database.ts';
import { type Faults, PARTS } from '../../../src/adapters/sqlite/faults.ts';
import { openSqliteStorage, type SqliteOptions } from '../../../src/adapters/sqlite/index.ts';
import { KnownFaults } from '../../../src/adapters/storage-kit/known-faults.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { INT64_MAX } from '../../../src/domain/int64.ts';
import type { NewPet } from '../../../src/domain/pet.ts';
import { insertPet, MAX, REX } from '../../support/pets.ts';
import { temporaryFolder } from '../../support/process.ts';
import { connect } from '../../support/sqlite.ts';

export { MAX, REX };

export function temporaryFile(): string {
  return join(temporaryFolder(), 'pets.db');
}

/**
 * Opens a storage that is closed before its file is deleted. By default, its writer thread starts with the first write,
 * because many tests write nothing.
 */
export function openStorage(path: string = temporaryFile(), options?: SqliteOptions): Storage {
  const storage = openSqliteStorage(path, { startWriter: false, ...options });
  onTestFinished(() => storage.close());
  return storage;
}

/** Opens a store that has one pet, and can still assign three ids. */
export function openNearEnd(): Storage {
  const path = newStore(1);
  execute(path, `UPDATE sqlite_sequence SET seq = ${INT64_MAX - 3n} WHERE name = 'pets'`);
  return openStorage(path);
}

/** Returns the faults of a store without a fault. */
export function newFaults(): Faults {
  return new KnownFaults(PARTS, {});
}

/** Creates the file of a store with this number of pets. No connection to the file stays open. */
export function makeStore(path: string, pets = 0): void {
  prepareDatabase(path);
  if (pets > 0) addPets(path, pets, REX);
}

/** Creates the file of a store as {@link makeStore} does, and returns its path. */
export function newStore(pets = 0): string {
  const path = temporaryFile();
  makeStore(path, pets);
  return path;
}

/** Adds pets to the file of a store in one commit of another connection. */
export function addPets(path: string, count: number, pet: NewPet): void {
  const db = new Database(path);
  const insert = db.prepare(insertPet(pet));
  db.transaction(() => {
    for (let added = 0; added < count; added += 1) insert.run();
  })();
  db.close();
}

/** Runs SQL on a connection that does not stay open. */
export function execute(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

/** Returns the number of pets in the file of a store or a backup. Expects the file to be sound. */
export function countIn(path: string): bigint {
  const db = connect(path);
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  return db.prepare('SELECT count(*) FROM pets').pluck().get() as bigint;
}

export function bytesOf(path: string): string {
  return readFileSync(path).toString('base64');
}
