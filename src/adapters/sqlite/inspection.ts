import type Database from 'better-sqlite3';
import { StorageFault, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { codeOf } from './errors.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';

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

/** SQLite can compile these only when all tables, columns and indexes of the schema exist. */
const SCHEMA_QUERIES = [
  'SELECT id, name, category_id, status FROM pets INDEXED BY pets_by_status WHERE status = 0',
  'SELECT id, hash, name, hint, created_at, expires_at, revoked_at, last_used_on, caller_id FROM api_keys',
  `SELECT caller, key, pet_id FROM idempotency_records INDEXED BY idempotency_records_by_age
    WHERE created_at = 0`,
  'SELECT id, data FROM probe',
];

export function assertTables(db: Database.Database): void {
  try {
    // Compiling a query does not read the file. Running one makes the connection notice a change of the schema.
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    for (const sql of SCHEMA_QUERIES) db.prepare(sql);
  } catch (error) {
    if (!isRefused(error)) throw error;
    const { message } = error as Error;
    throw new StorageFault('damaged', `another program has changed the tables of the store (${message})`, {
      cause: error,
    });
  }
}

/** Returns the fault of {@link assertTables} if SQLite refused a statement because of it, and else the error itself. */
export function causeOf(error: unknown, db: Database.Database): unknown {
  if (!isRefused(error)) return error;
  try {
    assertTables(db);
  } catch (fault) {
    return fault;
  }
  return error;
}

function isRefused(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_ERROR';
}

interface FileIdentity {
  readonly isNew: boolean;
  readonly isOwn: boolean;
  readonly version: number;
}

/** Reads in one transaction, because another process can migrate a new file at the same time. */
export function identify(db: Database.Database): FileIdentity {
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
  throw storageUnavailable(`${file} is the database of another application`);
}

export function unsupportedSchema(file: string, version: number): string | undefined {
  if (version <= MIGRATIONS.length) return undefined;
  return `${file} has schema version ${version}, this release supports ${MIGRATIONS.length}: use the release that wrote it, or a newer one`;
}

/** Returns the damage that was found. A file that is larger than `limit` bytes is not examined. */
export function quickCheck(db: Database.Database, limit: number = QUICK_CHECK_LIMIT): string | undefined {
  if (databaseSize(db) > limit) return undefined;
  const finding = db.pragma('quick_check(1)', { simple: true });
  return finding === 'ok' ? undefined : String(finding).split('\n').at(-1);
}

/** Includes the pages that are only in the write-ahead log. */
export function databaseSize(db: Database.Database): number {
  const sql = 'SELECT page_count * page_size FROM pragma_page_count, pragma_page_size';
  return Number(db.prepare(sql).pluck().get());
}

export function countRows(db: Database.Database, table: string): number {
  return Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
}
