import type Database from 'better-sqlite3';
import { assertTables, READ_ENDS } from '../inspection.ts';
import { BATCH_LIMIT, type BatchRunner } from '../write/batch.ts';
import type { FileGuard } from './file-guard.ts';
import { type Findings, failureIn, findingsOf } from './findings.ts';

/** The size of the data that a test of writing stores, in bytes: a full batch of pets with the longest names. */
const TEST_SIZE = BATCH_LIMIT * 1024;

/**
 * The transactions that test whether the database can be written. They change no row of a user. The first one writes as
 * many pages as the largest batch of writes. The second one makes these pages free for pets.
 */
const TEST_WRITES = [
  `INSERT OR REPLACE INTO probe (id, data) VALUES (1, randomblob(${TEST_SIZE}))`,
  'DELETE FROM probe',
];

/** How long a test of writing waits for the lock of another process, in milliseconds. */
const LOCK_TIMEOUT = 100;

/** What the writer thread writes with. */
export interface Connection {
  readonly db: Database.Database;
  readonly guard: FileGuard;
  readonly runner: BatchRunner;
}

/**
 * Tests whether the storage can be read and written.
 * @param tryWrite whether to write to the database file as a test; callers request this only after a failed write
 */
export function testStorage({ db, guard, runner }: Connection, tryWrite: boolean): Findings {
  const harm = failureIn(() => guard.assertUnharmed());
  if (harm !== null && 'file' in findingsOf(harm)) return { file: harm };
  const access = guard.findLackOfAccess();
  const pages = harm ?? failureIn(() => readEnds(db));
  const isWritten = tryWrite && access === null && pages === null;
  return { file: null, access, pages, ...(isWritten && testWriting(runner)) };
}

/**
 * Reads the first and the last rows from the disk. Empties the page cache of the connection first, because cached pages
 * can be read even when the disk fails.
 */
function readEnds(db: Database.Database): void {
  db.pragma('shrink_memory');
  assertTables(db);
  db.prepare(READ_ENDS).get();
}

function testWriting(runner: BatchRunner): Findings {
  let findings: Findings = {};
  for (const sql of TEST_WRITES) {
    ({ findings } = runner.commitBatch([[[sql]]], LOCK_TIMEOUT));
    if (findings.write !== null) break;
  }
  return findings;
}
