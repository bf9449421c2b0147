/** What the writer thread is sent, and what it replies: plain objects. Flat arrays would save 0.3 us of a create. */

import type { MessagePort } from 'node:worker_threads';
import type { Commit } from '../../../application/ports/observer.ts';
import type { PlainError } from '../errors.ts';

export type Value = string | number | bigint | Uint8Array | null;
export type SqlStatement = readonly [sql: string, ...values: Value[]];

/** Statements that take effect together or not at all. After a statement that changes no row, the others do not run. */
export type Write = readonly SqlStatement[];

/** The effect of the last statement of a write that ran. */
export interface Written {
  readonly changes: number;
  readonly rowId: bigint;
}

export type Outcome = Written | PlainError;

export interface BatchTask {
  readonly writes: readonly Write[];
  readonly lockTimeout: number;
}

export interface BatchReply {
  /** One for each write, or none when another process held the lock of the database and no write ran. */
  readonly outcomes: readonly Outcome[];
  /** The committed transaction, in the reply to the first of the batches that share it. */
  readonly transaction?: Commit | undefined;
}

/** A test of the storage. It writes only when a write has failed before. */
export interface ProbeTask {
  readonly tryWrite: boolean;
}

export interface ProbeReply {
  readonly failure?: PlainError | undefined;
  readonly testWrites: readonly Outcome[];
}

export type Task = BatchTask | ProbeTask;
export type Reply = BatchReply | ProbeReply;

/** The first message of the writer thread on each port, when it has loaded the SQLite driver. No task was begun before. */
export const READY = 'ready';

/** How the storages in several threads of a process share one writer thread, which one of the storages starts. */
export interface WriterSharing {
  /** Each of the threads gets an equal part of the limits of the write queue. */
  readonly threads: number;
  /** In the thread that starts the writer thread: receives the function to which the ports of other threads are passed. */
  readonly onOpen?: (attachPort: (port: MessagePort) => void) => void;
  /** In the other threads: transfers a port to the thread that has started the writer thread. */
  readonly sendPort?: (port: MessagePort) => void;
}
