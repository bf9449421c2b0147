/** SQLite stores of any schema version, which its own migrations make. */

import type Database from 'better-sqlite3';
import { APPLICATION_ID, MIGRATIONS } from '../../src/adapters/sqlite/schema.ts';
import { insertPet } from './pets.ts';
import { connect } from './sqlite.ts';

export const DAY: number = 24 * 60 * 60 * 1000;

/** What builds between 2.0 and 3.0 added to the schema of 2.0. */
const UNRELEASED = [
  `CREATE TRIGGER pets_rules_of_new_rows AFTER INSERT ON pets WHEN NOT NEW.id > 0 BEGIN SELECT RAISE(ABORT, 'x'); END;
   CREATE TRIGGER pets_rules_of_changed_rows AFTER UPDATE ON pets WHEN NOT NEW.id > 0 BEGIN SELECT RAISE(ABORT, 'x'); END;`,
  `ALTER TABLE api_keys ADD COLUMN is_read_only INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE idempotency_promises (days INTEGER PRIMARY KEY, ends_at INTEGER NOT NULL) STRICT;
   CREATE TABLE verified_backup (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), made_at INTEGER NOT NULL) STRICT;`,
];

/** The versions of all releases and builds. The newest is one of them, so that a migration after it is tried on it. */
export const VERSIONS: readonly number[] = [...MIGRATIONS.map(([version]) => version), 4, 5].toSorted();

/** Creates a store as a release with this schema version did, with two pets, two keys and a record. */
export function createOlderStore(path: string, version: number): Database.Database {
  const db = connect(path);
  db.pragma('journal_mode = WAL');
  const migrations = MIGRATIONS.filter(([to]) => to <= version).map(([, sql]) => sql);
  const unreleased = version === 4 || version === 5 ? UNRELEASED.slice(0, version - 3) : [];
  for (const migration of [...migrations, ...unreleased]) db.exec(migration);
  addPet(db, { id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' });
  addPet(db, { id: 5n, name: 'gone' });
  db.exec(`DELETE FROM pets WHERE id = 5;
    INSERT INTO api_keys (hash, name, hint, created_at) VALUES (x'00', 'old', 'p', 1)`);
  // A record had the time of its creation, and now has that of its end.
  const time = version < 6 ? 10 * DAY : 11 * DAY;
  if (version >= 2) db.exec(`INSERT INTO idempotency_records VALUES ('1', 'key', 1, ${time})`);
  if (version >= 5)
    db.exec(
      "INSERT INTO api_keys (hash, name, hint, created_at, is_read_only) VALUES (x'01', 'reader', 'p', 1, 1)",
    );
  db.pragma(`application_id = ${APPLICATION_ID}`);
  db.pragma(`user_version = ${version}`);
  return db;
}

/** Adds a pet, which may break a rule, with the attributes that the schema version has. */
export function addPet(db: Database.Database, pet: Parameters<typeof insertPet>[0]): void {
  const columns = db.prepare("SELECT name FROM pragma_table_info('pets')").pluck().all();
  db.exec(`PRAGMA ignore_check_constraints = ON; ${insertPet(pet, columns)}
    PRAGMA ignore_check_constraints = OFF`);
}
