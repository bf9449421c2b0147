/** SQLite stores of earlier releases, which their own migrations make. */

import type Database from 'better-sqlite3';
import { UPGRADES } from '../../src/adapters/sqlite/older-schemas.ts';
import { APPLICATION_ID, MIGRATIONS } from '../../src/adapters/sqlite/schema.ts';
import { connect } from './sqlite.ts';

export const DAY: number = 24 * 60 * 60 * 1000;

const TABLES_OF_1_0 = `
  CREATE TABLE pets (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, category_id INTEGER NOT NULL,
    status TEXT NOT NULL) STRICT;
  CREATE INDEX pets_by_status ON pets (status);
  CREATE TABLE api_keys (id INTEGER PRIMARY KEY AUTOINCREMENT, hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL,
    hint TEXT NOT NULL, created_at INTEGER NOT NULL, expires_at INTEGER, revoked_at INTEGER, last_used_on INTEGER) STRICT;
`;

/** What builds between 2.0 and 3.0 added to the schema of 2.0. */
const UNRELEASED = [
  `CREATE TRIGGER pets_rules_of_new_rows AFTER INSERT ON pets WHEN NOT NEW.id > 0 BEGIN SELECT RAISE(ABORT, 'x'); END;
   CREATE TRIGGER pets_rules_of_changed_rows AFTER UPDATE ON pets WHEN NOT NEW.id > 0 BEGIN SELECT RAISE(ABORT, 'x'); END;`,
  `ALTER TABLE api_keys ADD COLUMN is_read_only INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE idempotency_promises (days INTEGER PRIMARY KEY, ends_at INTEGER NOT NULL) STRICT;
   CREATE TABLE verified_backup (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), made_at INTEGER NOT NULL) STRICT;`,
];

/** Creates a store as a release with this schema version did, with two pets, two keys and a record. */
export function createOlderStore(path: string, version: number): Database.Database {
  const db = connect(path);
  db.pragma('journal_mode = WAL');
  const released = [TABLES_OF_1_0, ...UPGRADES.slice(0, 2).map(([, sql]) => sql)];
  for (const migration of [...released, ...UNRELEASED].slice(0, version)) db.exec(migration);
  db.exec(`INSERT INTO pets (id, name, category_id, status) VALUES (1, 'Rex', 7, 'sold'), (5, 'gone', 7, 'sold');
    DELETE FROM pets WHERE id = 5;
    INSERT INTO api_keys (hash, name, hint, created_at) VALUES (x'00', 'old', 'p', 1)`);
  if (version >= 2) db.exec(`INSERT INTO idempotency_records VALUES ('1', 'key', 1, ${10 * DAY})`);
  if (version >= 5)
    db.exec(
      "INSERT INTO api_keys (hash, name, hint, created_at, is_read_only) VALUES (x'01', 'reader', 'p', 1, 1)",
    );
  db.pragma(`application_id = ${APPLICATION_ID}`);
  db.pragma(`user_version = ${version}`);
  return db;
}

/** What 3.0 stored for a create with an idempotency key. */
export const RECORD_OF_3_0: string = `INSERT INTO idempotency_records (caller, key, pet_id, valid_until) VALUES ('1', ?, ?, ?)
  ON CONFLICT DO UPDATE SET pet_id = excluded.pet_id, valid_until = excluded.valid_until WHERE valid_until < 100`;

/** How 3.0 stored a pet, which has no attribute of a later release. */
export function insertPetOf30(id?: bigint): string {
  const [column, value] = id === undefined ? ['', ''] : ['id, ', `${id}, `];
  return `INSERT INTO pets (${column}name, category_id, status) VALUES (${value}'Rex', 1, 'available')`;
}

/** Creates an empty store as 3.0 did. */
export function createStoreOf30(path: string): Database.Database {
  const db = connect(path);
  db.pragma('journal_mode = WAL');
  db.exec(MIGRATIONS[0]?.[1] ?? '');
  db.pragma(`application_id = ${APPLICATION_ID}`);
  db.pragma('user_version = 6');
  return db;
}
