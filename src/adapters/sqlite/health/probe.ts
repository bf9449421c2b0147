import { LOCK_TIMEOUT } from '../database.ts';
import { assertTables, READ_ENDS } from '../inspection.ts';
import { BATCH_LIMIT, type BatchRunner } from '../write/batch.ts';
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

/**
 * Tests whether the storage can be read and written.
 * @param tryWrite whether to write to the database file as a test; callers request this only after a failed write
 */
export function testStorage(runner: BatchRunner, tryWrite: boolean): Findings {
  const { db, guard } = runner;
  const failure = failureIn(() => {
    guard.assertUnharmed();
    guard.assertWritable();
    // Cached pages can be read even when the disk fails, so the page cache of the connection is emptied first.
    db.pragma('shrink_memory');
    assertTables(db);
    db.prepare(READ_ENDS).get();
  });
  if (failure !== null) return { file: null, ...findingsOf(failure, 'access') };
  return { file: null, access: null, ...(tryWrite && testWriting(runner)) };
}

function testWriting(runner: BatchRunner): Findings {
  let findings: Findings = {};
  for (const sql of TEST_WRITES) {
    ({ findings } = runner.commitBatch([[[sql]]], LOCK_TIMEOUT));
    if (findings.write !== null) break;
  }
  return findings;
}
