/** Creates SQLite stores as earlier releases did, and writes to them. */

import type Database from 'better-sqlite3';
import { APPLICATION_ID, MIGRATIONS } from '../../src/adapters/sqlite/schema.ts';
import { connect } from './sqlite.ts';

export const DAY: number = 24 * 60 * 60 * 1000;

/** The record that 3.0 stored for a create with an idempotency key. */
export const RECORD_OF_3_0: string = `INSERT INTO idempotency_records (caller, key, pet_id, valid_until) VALUES ('1', ?, ?, ?)
  ON CONFLICT DO UPDATE SET pet_id = excluded.pet_id, valid_until = excluded.valid_until WHERE valid_until < 100`;

/** Returns the statement of 3.0 that stores a pet, which has no attribute of a later release. */
export function insertPetOf30(id?: bigint): string {
  const [column, value] = id === undefined ? ['', ''] : ['id, ', `${id}, `];
  return `INSERT INTO pets (${column}name, category_id, status) VALUES (${value}'Rex', 1, 'available')`;
}

/** Creates an empty store as 3.0 did, with the schema version of this release or of an earlier one. */
export function createStoreOf30(path: string, version = 6): Database.Database {
  const db = connect(path);
  db.pragma('journal_mode = WAL');
  db.exec(MIGRATIONS[0]?.[1] ?? '');
  db.pragma(`application_id = ${APPLICATION_ID}`);
  db.pragma(`user_version = ${version}`);
  return db;
}
