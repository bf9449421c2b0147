/** Creates database files: the schema of the service, the same pets on every machine, and one API key. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { apiKeyPrefix, formatApiKey } from '../src/domain/api-key.ts';
import { workDir } from './processes.ts';

const SEED = 42;

const BIN = join(import.meta.dirname, '../bin/animal-store.js');

/** Gives another program access to the data of a server. */
export interface Data {
  /** The value of `DATABASE_URL`. */
  readonly url: string;
  /** Resolves with the rows of a query. The table `pets` has the same columns in every database. */
  query(sql: string): Promise<Record<string, unknown>[]>;
}

/** The maximum size of a file that is copied for each run, in bytes. A larger file is used directly. */
const COPY_LIMIT = 200 * 1024 * 1024;

export const API_KEY: string = formatApiKey(createHash('sha256').update('animal-store bench').digest());

/**
 * The SQL that inserts the pets. The names are ASCII. One categoryId in ten is above 2^53. 60 % of the pets are available, 30 % are
 * pending, and 10 % are sold.
 */
const FILL = `
  INSERT INTO pets (name, category_id, status)
  WITH RECURSIVE random (n, x) AS (
    SELECT 1, ${SEED}
    UNION ALL SELECT n + 1, (x * 1103515245 + 12345) & 0x7fffffff FROM random WHERE n < ?
  )
  SELECT
    'Bello ' || (x >> 8),
    iif((x >> 5) % 10 = 0, 9007199254740993 + x, 1 + (x >> 12) % 1000),
    CASE WHEN (x >> 16) % 10 < 6 THEN 'available' WHEN (x >> 16) % 10 < 9 THEN 'pending' ELSE 'sold' END
  FROM random`;

/** Returns the path of a file with `pets` pets. The first call for this number creates the file. */
export function filledFile(pets: number): string {
  const path = join(workDir, `${pets}-pets.db`);
  if (existsSync(path)) return path;
  // The command creates the tables. It also creates a key, which the benchmark does not use.
  execFileSync(process.execPath, [BIN, 'keys', 'create', '--create-store', '--name', 'other'], {
    env: { PATH: process.env['PATH'], DATABASE_URL: `sqlite:${path}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const db = new Database(path);
  db.pragma('journal_mode = OFF');
  db.pragma('synchronous = OFF');
  db.transaction(() => {
    db.prepare(FILL).run(pets);
    db.prepare('INSERT INTO api_keys (hash, name, hint, created_at) VALUES (?, ?, ?, ?)').run(
      createHash('sha256').update(API_KEY).digest(),
      'bench',
      apiKeyPrefix(API_KEY),
      Date.now(),
    );
  })();
  db.pragma('journal_mode = WAL');
  db.close();
  sync(path);
  return path;
}

/**
 * Copies a file for one run of a server. The copy is synced to the disk before the run. Otherwise, the fsyncs of the server would
 * have to write the copy.
 */
export function workingCopy(path: string): string {
  const copy = join(workDir, 'pets.db');
  for (const suffix of ['', '-wal', '-shm']) rmSync(copy + suffix, { force: true });
  if (statSync(path).size > COPY_LIMIT) {
    linkSync(path, copy);
  } else {
    copyFileSync(path, copy, constants.COPYFILE_FICLONE);
    sync(copy);
  }
  return copy;
}

/** Returns the data of a file, which a server may use at the same time. */
export function sqliteData(path: string): Data {
  const query = (sql: string) => {
    const db = new Database(path, { readonly: true });
    try {
      return db.prepare(sql).safeIntegers().all() as Record<string, unknown>[];
    } finally {
      db.close();
    }
  };
  return { url: `sqlite:${path}`, query: async (sql) => query(sql) };
}

/** Returns the greatest id or revision (both share one counter), or 0 if there is none. */
export function lastId(data: Data): Promise<number> {
  const numbers = 'SELECT max(id) AS n FROM pets UNION ALL SELECT max(revision) FROM pet_revisions';
  return numberOf(data, `SELECT coalesce(max(n), 0) AS number FROM (${numbers}) AS numbers`);
}

export function petsAfter(data: Data, id: number): Promise<number> {
  return numberOf(data, `SELECT count(*) AS number FROM pets WHERE id > ${id}`);
}

async function numberOf(data: Data, sql: string): Promise<number> {
  const [row] = await data.query(sql);
  return Number(row?.['number']);
}

function sync(path: string): void {
  const file = openSync(path, 'r+');
  fsyncSync(file);
  closeSync(file);
}

/** Returns the median time of 100 fsyncs, each after a small append, in milliseconds. */
export function fsyncTime(): number {
  const path = join(workDir, 'fsync');
  const file = openSync(path, 'w');
  const times = Array.from({ length: 100 }, () => {
    writeSync(file, Buffer.alloc(4096));
    const start = performance.now();
    fsyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  rmSync(path);
  return times.sort((a, b) => a - b)[50] ?? 0;
}
