/** Transactions that wait for more than the disk: in the writer thread, all other writes would wait for them. */

import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { StorageFault, storageFaultReason } from '../../application/ports/storage-fault.ts';
import { errorFrom, storageError, UNKNOWN } from './errors.ts';
import { assertSameFiles } from './files.ts';
import { endThread, startThread } from './threads.ts';
import type { Writer } from './writer.ts';
import type { Answer, Call, SqlValue } from './writer-thread.ts';

/** Rejects with an error of `work` unchanged. */
export async function withOwnConnection<T>(
  writer: Writer,
  work: (connection: OwnConnection) => Promise<T>,
): Promise<T> {
  writer.assertOpen();
  const thread = startThread('writer-thread', writer.files);
  try {
    const connection = new OwnConnection(thread, writer);
    await connection.isReady;
    return await work(connection);
  } catch (error) {
    // Other errors can be those of a temporary table, which can be on another disk.
    if (storageFaultReason(error) === 'sync_failed')
      writer.faults.reportFailure('writes', storageError(error));
    throw error;
  } finally {
    await endThread(thread);
  }
}

export class OwnConnection {
  readonly isReady: Promise<unknown>;
  readonly #thread: Worker;
  readonly #exit: Promise<never>;
  readonly #writer: Writer;
  #startedAt = 0;

  constructor(thread: Worker, writer: Writer) {
    this.#thread = thread;
    this.#exit = once(thread, 'exit').then(lost, lost);
    this.#exit.catch(() => {});
    this.#writer = writer;
    this.isReady = this.#reply();
  }

  /** Resolves for each row with the first value that is selected, or with the changes. Statements without rows have no results. */
  async run<T>(sql: string, ...rows: readonly (readonly SqlValue[])[]): Promise<readonly T[]> {
    const replied = this.#reply();
    this.#thread.postMessage({ sql, rows } satisfies Call);
    const answer = (await replied) as Answer;
    if ('code' in answer) throw errorFrom(answer);
    return answer.results as readonly T[];
  }

  async begin(): Promise<void> {
    this.#startedAt = performance.now();
    await this.run('BEGIN IMMEDIATE');
  }

  /** Throws when the storage is closed or must not be written, or when another file is at its path. */
  assertWritable(): void {
    this.#writer.assertOpen();
    assertSameFiles(this.#writer.files);
  }

  async commit(writes: number): Promise<void> {
    this.assertWritable();
    await this.run('COMMIT');
    this.#writer.observer.onCommit?.({ writes, ms: performance.now() - this.#startedAt });
  }

  async #reply(): Promise<unknown> {
    return (await Promise.race([once(this.#thread, 'message').catch(lost), this.#exit]))[0];
  }
}

function lost(cause?: unknown): never {
  throw new StorageFault('not_responding', `the thread of the transaction exited${UNKNOWN}`, { cause });
}
