/** Transactions that wait for more than the disk: in the writer thread, all other writes would wait for them. */

import { once } from 'node:events';
import { extname } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { StorageFault, storageFaultReason } from '../../application/ports/storage-fault.ts';
import { waitAtMost } from '../storage-kit/wait-at-most.ts';
import type { Answer, Call } from './connection-thread.ts';
import { errorFrom, storageError, UNKNOWN } from './errors.ts';
import { assertSameFiles } from './files.ts';
import { startThread, type Writer } from './writer.ts';
import type { SqlValue } from './writer-thread.ts';

const THREAD = new URL(`./connection-thread${extname(import.meta.url)}`, import.meta.url);
/** In milliseconds. */
const EXIT_TIMEOUT = 10_000;

/** Rejects with an error of `work` unchanged. */
export async function withOwnConnection<T>(
  writer: Writer,
  work: (connection: OwnConnection) => Promise<T>,
): Promise<T> {
  writer.assertOpen();
  const thread = startThread(THREAD, writer.files);
  const exit = once(thread, 'exit');
  try {
    return await work(new OwnConnection(thread, exit, writer));
  } catch (error) {
    // Other errors can be those of a temporary table, which can be on another disk.
    if (storageFaultReason(error) === 'sync_failed')
      writer.faults.reportFailure('writes', storageError(error));
    throw error;
  } finally {
    thread.postMessage('close');
    await waitAtMost(EXIT_TIMEOUT, exit);
    thread.unref();
  }
}

export class OwnConnection {
  readonly #thread: Worker;
  readonly #exit: Promise<unknown>;
  readonly #writer: Writer;
  #startedAt = 0;

  constructor(thread: Worker, exit: Promise<unknown>, writer: Writer) {
    this.#thread = thread;
    this.#exit = exit.then(lost, lost);
    this.#exit.catch(() => {});
    this.#writer = writer;
  }

  /** Resolves for each row with the first value that is selected, or with the changes. */
  async run<T>(sql: string, ...rows: readonly (readonly SqlValue[])[]): Promise<readonly T[]> {
    return (await this.#call({ sql, rows })) as readonly T[];
  }

  async execute(sql: string): Promise<void> {
    await this.#call({ sql });
  }

  async begin(): Promise<void> {
    this.#startedAt = performance.now();
    await this.execute('BEGIN IMMEDIATE');
  }

  /** Throws when the storage is closed or must not be written, or when another file is at its path. */
  assertWritable(): void {
    this.#writer.assertOpen();
    assertSameFiles(this.#writer.files);
  }

  async commit(writes: number): Promise<void> {
    this.assertWritable();
    await this.execute('COMMIT');
    this.#writer.onCommit({ writes, ms: performance.now() - this.#startedAt });
  }

  async #call(call: Call): Promise<readonly unknown[]> {
    const answered = once(this.#thread, 'message');
    this.#thread.postMessage(call);
    const [answer] = (await Promise.race([answered, this.#exit])) as [Answer];
    if ('code' in answer) throw errorFrom(answer);
    return answer.results;
  }
}

function lost(cause?: unknown): never {
  throw new StorageFault('not_responding', `the thread of the transaction exited${UNKNOWN}`, { cause });
}
