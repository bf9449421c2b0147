/**
 * Opens a connection in a new thread for work that waits for its caller, such as an import. In the writer thread, such work would
 * delay all writes.
 */

import { on } from 'node:events';
import { StorageFault, storageFaultReason } from '../../application/ports/storage-fault.ts';
import { errorFrom, storageError, UNKNOWN } from './errors.ts';
import { assertSameFiles } from './files.ts';
import { endThread, startThread } from './threads.ts';
import type { Writer } from './writer.ts';
import type { Answer, Call, SqlValue } from './writer-thread.ts';

export interface OwnConnection {
  /**
   * Runs a statement once for each row of values. Resolves with the first value that each run selects, or with the `RunResult` of
   * each change. If `rows` is empty, runs `sql` once, and resolves with an empty array. Rejects when no write is possible.
   */
  run<T>(sql: string, ...rows: readonly (readonly SqlValue[])[]): Promise<readonly T[]>;
  begin(): Promise<void>;
  commit(writes: number): Promise<void>;
}

type Work<T> = (connection: OwnConnection) => Promise<T>;

/** Calls `work` with a connection in a new thread, and settles as `work` does. `work` must end when `Reads.closing` is aborted. */
export function withOwnConnection<T>(writer: Writer, work: Work<T>): Promise<T> {
  return writer.finish(connectAndRun(writer, work));
}

async function connectAndRun<T>(writer: Writer, work: Work<T>): Promise<T> {
  writer.assertOpen();
  const thread = startThread('writer-thread', writer.files);
  const replies = on(thread, 'message', { close: ['exit'] });
  const reply = async (outcome = ''): Promise<Answer> => {
    const { value } = await replies.next().catch((cause: unknown) => lost(outcome, cause));
    return value?.[0] ?? lost(outcome);
  };
  let startedAt = 0;
  const connection: OwnConnection = {
    async run<T>(sql: string, ...rows: readonly (readonly SqlValue[])[]) {
      writer.assertOpen();
      assertSameFiles(writer.files);
      thread.postMessage({ sql, rows } satisfies Call);
      const answer = await reply(sql === 'COMMIT' ? UNKNOWN : '');
      if ('code' in answer) throw errorFrom(answer);
      return answer.results as readonly T[];
    },
    async begin() {
      startedAt = performance.now();
      await connection.run('BEGIN IMMEDIATE');
    },
    async commit(writes) {
      await connection.run('COMMIT');
      writer.observer.onCommit?.({ writes, ms: performance.now() - startedAt });
    },
  };
  try {
    // The first message says that the thread has started.
    await reply();
    return await work(connection);
  } catch (error) {
    // Reports only a failed fsync, because other errors can come from a temporary table, which can be on another disk.
    if (storageFaultReason(error) === 'sync_failed')
      writer.faults.reportFailure('writes', storageError(error));
    throw error;
  } finally {
    await endThread(thread);
  }
}

function lost(outcome: string, cause?: unknown): never {
  throw new StorageFault('not_responding', `the thread of the transaction exited${outcome}`, { cause });
}
