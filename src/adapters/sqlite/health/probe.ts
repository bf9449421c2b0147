import { LOCK_TIMEOUT } from '../database.ts';
import { assertIdsLeft, assertSchema, READ_ENDS } from '../inspection.ts';
import { BATCH_LIMIT, type BatchRunner } from '../write/batch.ts';
import { type Findings, failureIn, findingsOf } from './findings.ts';

/** In bytes: a full batch of pets with the longest names. */
const TEST_SIZE = BATCH_LIMIT * 1024;

/** These transactions change no row of a user. The second one makes the pages of the first one free for pets. */
const TEST_WRITES = [
  `INSERT OR REPLACE INTO probe (id, data) VALUES (1, randomblob(${TEST_SIZE}))`,
  'DELETE FROM probe',
];

/** @param tryWrite whether to write to the database file as a test, which callers request only after a failed write */
export function testStorage(runner: BatchRunner, tryWrite: boolean): Findings {
  const { db, guard } = runner;
  const failure = failureIn(() => {
    guard.assertUnharmed();
    guard.assertWritable();
    // Cached pages can be read even when the disk fails, so the page cache of the connection is emptied first.
    db.pragma('shrink_memory');
    assertSchema(db);
    db.prepare(READ_ENDS).get();
    assertIdsLeft(db);
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
