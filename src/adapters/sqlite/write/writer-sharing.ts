import type { MessagePort } from 'node:worker_threads';

/** How the storages in several threads of a process share one writer thread, which one of the storages starts. */
export interface WriterSharing {
  /** Each of the threads gets an equal part of the limits of the write queue. */
  readonly threads: number;
  /** The number of commits, in shared memory, so that no thread returns data from before an acknowledged write. */
  readonly commits: Int32Array<SharedArrayBuffer>;
  /** In the thread that starts the writer thread: receives the function to which the ports of other threads are passed. */
  readonly onOpen?: (attachPort: (port: MessagePort) => void) => void;
  /** In the other threads: transfers a port to the thread that has started the writer thread. */
  readonly sendPort?: (port: MessagePort) => void;
}
