/** The tables of a store, the migrations that create them, and queries about a whole store. */

import Database from 'better-sqlite3';
import type { BackupContents } from '../../application/ports/maintenance.ts';
import { StorageFault, storageUnavailable } from '../../application/ports/storage-fault.ts';
import type { Pet } from '../../domain/pet.ts';
import { refuseBefore30 } from '../storage-kit/older-schemas.ts';
import { existingColumns, type PetRow, petOf } from '../storage-kit/pet-rows.ts';
import { refuseNewer } from '../storage-kit/store-errors.ts';

/** Marks a file as a store of this application. */
export const APPLICATION_ID = 0x50455453n;
/** The rules of each attribute. SQLite checks them for all programs. Rules about several attributes are in `newPet` only. */
const PET_RULES = `id > 0 AND length(name) BETWEEN 1 AND 255 AND instr(name, char(0)) = 0
  AND status IN ('available', 'pending', 'sold')`;

/**
 * AUTOINCREMENT ensures that no id is assigned twice. Each entry of a SQLite index ends with the row id, so a page of the pets that
 * match one filter is a contiguous range of the index. The table `probe` is empty, except during a test write.
 */
const TABLES = `
  CREATE TABLE pets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    status TEXT NOT NULL,
    CONSTRAINT pet_rules CHECK (${PET_RULES})
  ) STRICT;

  CREATE INDEX pets_by_status ON pets (status);

  CREATE TABLE api_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    hash BLOB NOT NULL UNIQUE,
    name TEXT NOT NULL,
    hint TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_on INTEGER,
    caller_id INTEGER,
    is_read_only INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE idempotency_records (
    caller TEXT NOT NULL,
    key TEXT NOT NULL,
    pet_id INTEGER NOT NULL,
    valid_until INTEGER NOT NULL,
    PRIMARY KEY (caller, key)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX idempotency_records_by_end ON idempotency_records (valid_until);

  CREATE TABLE probe (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
`;

export const FIRST_VERSION = 6;

/**
 * `pet_revisions` has a row for each pet that was changed or removed. A removed pet has no row in `pets`. The revision is not a
 * column of `pets`: to create the index of such a column, the migration would read all pets. An idempotency record of
 * an older release has neither request nor response.
 */
const CHANGES = `
  CREATE TABLE pet_revisions (
    revision INTEGER PRIMARY KEY,
    pet_id INTEGER NOT NULL UNIQUE
  ) STRICT;

  CREATE TABLE epoch (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), value TEXT NOT NULL) STRICT;
  INSERT INTO epoch VALUES (1, lower(hex(randomblob(8))));

  ALTER TABLE idempotency_records ADD COLUMN request TEXT;
  ALTER TABLE idempotency_records ADD COLUMN response TEXT;
`;

/**
 * The schema versions, each with the SQL that migrates a store to it. A released migration is never changed. Each new attribute of
 * a pet needs a migration: a test compares the newest schema with `ATTRIBUTES`. A migration must set `ignore_check_constraints` if
 * it adds a column with a CHECK. Otherwise, SQLite would check all rules, and refuse the column if a stored pet breaks one of them.
 */
export const MIGRATIONS: readonly (readonly [version: number, sql: string])[] = [
  [FIRST_VERSION, TABLES],
  [FIRST_VERSION + 1, CHANGES],
];

/** The pragma `user_version` of a store. */
export const SCHEMA_VERSION: number = Math.max(...MIGRATIONS.map(([version]) => version));

/** One statement, so that the values belong together even if another process is creating the store. */
const MARKS = `SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
  (SELECT count(*) FROM sqlite_schema)`;

/** A virtual table has the root page 0. Its columns are skipped, because reading them fails if its module is not loaded. */
const COLUMNS = `SELECT t.name || '.' || c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
  WHERE t.type = 'table' AND t.rootpage > 0`;

/** Returns the schema version, or 0 for a file without tables. Throws if the version is not supported, or a column is missing. */
export function versionOf(db: Database.Database, file = 'the file'): number {
  const version = anyVersionOf(db, file);
  refuseNewer(file, version, SCHEMA_VERSION);
  refuseBefore30(file, version, FIRST_VERSION);
  const model = new Database(':memory:');
  for (const [to, sql] of MIGRATIONS) if (to <= version) model.exec(sql);
  const [existing, expected] = [db, model].map((each) => each.prepare(COLUMNS).pluck().all());
  model.close();
  const missing = expected?.find((column) => !existing?.includes(column));
  const advice = `restore ${file === 'the file' ? 'a' : 'another'} backup`;
  if (missing) throw new StorageFault('damaged', `${file} lacks the column ${missing}: ${advice}`);
  return version;
}

/** Returns the schema version of a store of any release, or 0 for a file without tables. Throws for another application's file. */
export function anyVersionOf(db: Database.Database, file: string): number {
  const marks = db.prepare<[], readonly bigint[]>(MARKS).raw().safeIntegers().get() ?? [];
  const [application, version] = marks;
  if (application !== APPLICATION_ID && marks.some((mark) => mark !== 0n))
    throw storageUnavailable(`${file} is the database of another application`);
  return Number(version);
}

/** Reads all pets. A store or a backup of an older release can lack columns. */
export function* readPets(db: Database.Database): Generator<Pet> {
  const columns = db.prepare("SELECT name FROM pragma_table_info('pets')").pluck().all();
  const { selected, lacking } = existingColumns(columns);
  const rows = db.prepare<[], PetRow>(`SELECT ${selected} FROM pets ORDER BY id`).raw().safeIntegers();
  for (const row of rows.iterate()) yield { ...lacking, ...petOf(row) };
}

/** The greatest id or revision, or 0. `seq` is cast, because it has no type: another program may have stored text. */
export const LAST_ID: string = selectLastId('pets');

function selectLastId(table: string, source = table): string {
  return `SELECT max(coalesce((SELECT CAST(seq AS INTEGER) FROM sqlite_sequence WHERE name = '${table}'), 0),
    coalesce((SELECT max(id) FROM ${source}), 0))`;
}

/** @param source `(SELECT 0 AS id)` if the table cannot be read: the id then comes only from `sqlite_sequence` */
export function lastIdOf(db: Database.Database, table = 'pets', source: string = table): bigint {
  return db.prepare<[], bigint>(selectLastId(table, source)).pluck().safeIntegers().get() ?? 0n;
}

/** Gives a copy of a store an epoch of its own. An older backup has no table `epoch`: it gets its epoch when it is migrated. */
export function beginEpoch(db: Database.Database): void {
  if (versionOf(db) > FIRST_VERSION) db.exec(BEGIN_EPOCH);
}

export const BEGIN_EPOCH: string = 'UPDATE epoch SET value = lower(hex(randomblob(8)))';

export function countRows(db: Database.Database, table: string): number {
  return Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
}

/** Reads a part of the tables `pets` and `api_keys`, to test whether the file can be read. */
export function testRead(db: Database.Database): void {
  db.prepare(`SELECT (SELECT id FROM pets ORDER BY id LIMIT 1), (SELECT id FROM pets ORDER BY id DESC LIMIT 1),
    (SELECT name FROM api_keys ORDER BY hash LIMIT 1)`).get();
}

export function contentsOf(db: Database.Database): Omit<BackupContents, 'problems'> {
  return { pets: countRows(db, 'pets'), apiKeys: countRows(db, 'api_keys'), lastId: lastIdOf(db) };
}
