import type { StorageFault } from './storage-fault.ts';

/** A transaction that was committed to the storage. */
export interface Commit {
  readonly writes: number;
  /** The time from the start of the transaction until it was durable, in milliseconds. */
  readonly ms: number;
}

/** An observer is notified of events in a storage, for example to log or to count them. A method must not throw. */
export interface Observer {
  /** Called after each transaction. */
  onCommit?(commit: Commit): void;
  /**
   * Called when the storage becomes unable to handle requests, when the reason changes, and, with `undefined`, when it can handle
   * requests again.
   */
  onStorageState?(fault: StorageFault | undefined): void;
  /**
   * Called while the storage is opened: for each danger, such as a setting that can lose data, and after a migration of the schema.
   */
  onWarning?(message: string): void;
  /**
   * Called when background work, such as the removal of ended records, has failed. No caller waits for such work. Called at most
   * once a minute for each kind of work. If no observer has this method, the failure is written to the console.
   */
  onFailure?(work: string, error: unknown): void;
}
