import type Database from 'better-sqlite3';
import { idsExhausted } from '../../application/ids-left.ts';
import type { BackupContents } from '../../application/ports/maintenance.ts';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import type { Pet } from '../../domain/pet.ts';
import { INVALID_PETS_LIMIT } from '../storage-kit/invalid-pets.ts';
import { changedTables, codeOf, newerSchema } from '../storage-kit/store-errors.ts';
import { openConnection } from './driver.ts';
import { type PetRow, petOf } from './pets.ts';
import { APPLICATION_ID, INVALID_PETS, LAST_ID, MIGRATIONS } from './schema.ts';

/** In bytes: `quick_check` reads the whole file, so it would delay the start with a larger file. */
const QUICK_CHECK_LIMIT = 32 * 1024 * 1024;

/** Reads the ends of the tables and of their indexes, to test whether the database file can be read. */
export const READ_ENDS: string = `SELECT
  (SELECT name FROM pets ORDER BY id LIMIT 1),
  (SELECT name FROM pets ORDER BY id DESC LIMIT 1),
  (SELECT name FROM pets INDEXED BY pets_by_status ORDER BY status, id LIMIT 1),
  (SELECT name FROM pets INDEXED BY pets_by_status ORDER BY status DESC, id DESC LIMIT 1),
  (SELECT name FROM api_keys ORDER BY id LIMIT 1),
  (SELECT name FROM api_keys ORDER BY hash LIMIT 1)`;

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly tableName: string;
  readonly sql: string;
}

/** Renaming a table puts its name in quotes. The release itself uses none. */
const SCHEMA_OBJECTS = `SELECT type, lower(name) AS name, lower(tbl_name) AS tableName, replace(sql, '"', '') AS sql
  FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'`;

/** The objects of each schema version, which are read from an empty store in memory. */
const EXPECTED = new Map<number, readonly SchemaObject[]>();

function expectedObjects(version: number): readonly SchemaObject[] {
  let expected = EXPECTED.get(version);
  if (expected === undefined) {
    const db = openConnection(':memory:');
    for (const migration of MIGRATIONS.slice(0, version)) db.exec(migration);
    expected = objectsOf(db);
    db.close();
    EXPECTED.set(version, expected);
  }
  return expected;
}

function objectsOf(db: Database.Database): readonly SchemaObject[] {
  return db.prepare<[], SchemaObject>(SCHEMA_OBJECTS).all();
}

/**
 * Compares the schema with that of the release. Another program may add columns, tables, views and indexes, but no
 * trigger that can change what a write of this program does.
 */
export function assertSchema(db: Database.Database): void {
  const version = Number(db.pragma('user_version', { simple: true }));
  const expected = expectedObjects(version);
  const found = objectsOf(db);
  const fault =
    missingObject(expected, found) ??
    (version <= MIGRATIONS.length ? foreignTrigger(expected, found) : undefined);
  if (fault !== undefined) {
    throw changedTables(fault);
  }
}

function missingObject(
  expected: readonly SchemaObject[],
  found: readonly SchemaObject[],
): string | undefined {
  for (const { type, name, sql } of expected) {
    const object = found.find((each) => each.type === type && each.name === name);
    if (object === undefined)
      return `no such ${type}: ${type === 'table' ? name : sql.replaceAll(/\s+/g, ' ')}`;
    // The definition of a column that was added is before the last parenthesis.
    const end = type === 'table' ? sql.lastIndexOf(')') : sql.length;
    if (!object.sql.startsWith(sql.slice(0, end)) || !object.sql.endsWith(sql.slice(end))) {
      return `the ${type} ${name} is not that of this release`;
    }
  }
  return undefined;
}

function foreignTrigger(
  expected: readonly SchemaObject[],
  found: readonly SchemaObject[],
): string | undefined {
  const tables = new Set(expected.map(({ tableName }) => tableName));
  const isForeign = ({ type, name, tableName }: SchemaObject) =>
    type === 'trigger' && tables.has(tableName) && !expected.some((each) => each.name === name);
  const trigger = found.find(isForeign);
  return trigger && `unknown trigger: DROP TRIGGER ${trigger.name} removes it`;
}

/** Returns the fault because of which SQLite refused a statement, and else the error itself. */
export function causeOf(error: unknown, db: Database.Database): unknown {
  try {
    if (codeOf(error) === 'SQLITE_ERROR') assertSchema(db);
    if (codeOf(error) === 'SQLITE_FULL') assertIdsLeft(db);
  } catch (fault) {
    return fault;
  }
  return error;
}

/** Reads in one transaction, because another process can migrate a new file at the same time. */
export function identify(db: Database.Database): { isNew: boolean; isOwn: boolean; version: number } {
  const read = db.transaction(() => {
    const application = db.pragma('application_id', { simple: true });
    const version = Number(db.pragma('user_version', { simple: true }));
    const tables = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get();
    const isNew = application === 0n && version === 0 && tables === 0n;
    return { isNew, isOwn: application === APPLICATION_ID, version };
  });
  return read();
}

export function versionOf(db: Database.Database, file: string): number {
  const { isNew, isOwn, version } = identify(db);
  if (isNew || isOwn) return version;
  throw storageUnavailable(`${file} is ${foreign(db)}`);
}

/** Copies by `.dump` and `.clone` of the program sqlite3 have the tables of a store, and not the two marks of its file. */
export function foreign(db: Database.Database): string {
  const other = 'the database of another application';
  const marks = [db.pragma('application_id', { simple: true }), db.pragma('user_version', { simple: true })];
  if (marks.some((mark) => Number(mark) !== 0)) return other;
  const found = objectsOf(db);
  const versions = MIGRATIONS.map((_, index) => index + 1).toReversed();
  const version = versions.find((each) => missingObject(expectedObjects(each), found) === undefined);
  if (version === undefined) return other;
  return `a copy of a store that lacks the marks of its file: set them with sqlite3 FILE 'PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${version}'`;
}

export function unsupportedSchema(file: string, version: number): string | undefined {
  return newerSchema(file, version, MIGRATIONS.length);
}

/** Returns the damage that was found. A file that is larger than `limit` bytes is not examined. */
export function quickCheck(db: Database.Database, limit: number = QUICK_CHECK_LIMIT): string | undefined {
  return databaseSize(db) > limit ? undefined : damageOf(db, 'quick_check');
}

/** `integrity_check` also compares the indexes with their tables. */
export function damageOf(
  db: Database.Database,
  check: 'quick_check' | 'integrity_check',
): string | undefined {
  const finding = db.pragma(`${check}(1)`, { simple: true });
  return finding === 'ok' ? undefined : String(finding).split('\n').at(-1);
}

/** Includes the pages that are only in the write-ahead log. */
export function databaseSize(db: Database.Database): number {
  const sql = 'SELECT page_count * page_size FROM pragma_page_count, pragma_page_size';
  return Number(db.prepare(sql).pluck().get());
}

/** Returns the greatest id that was assigned, or 0n. */
export function lastIdOf(db: Database.Database): bigint {
  return db.prepare<[], bigint>(LAST_ID).pluck().safeIntegers().get() ?? 0n;
}

export function contentsOf(db: Database.Database): Omit<BackupContents, 'problems'> {
  return { pets: countRows(db, 'pets'), apiKeys: countRows(db, 'api_keys'), lastId: lastIdOf(db) };
}

export function assertIdsLeft(db: Database.Database): void {
  if (lastIdOf(db) === INT64_MAX) throw idsExhausted();
}

/** Returns pets that break a rule, at most {@link INVALID_PETS_LIMIT}. */
export function invalidPets(db: Database.Database): Pet[] {
  return db.prepare<[number], PetRow>(INVALID_PETS).raw().all(INVALID_PETS_LIMIT).map(petOf);
}

export function countRows(db: Database.Database, table: string): number {
  return Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
}
