import { CallQueue, type QueuedCall } from '../../storage-kit/call-queue.ts';
import type { Write, Written } from './protocol.ts';

const LENGTH_LIMIT = 10_000;

/** In milliseconds. */
const TIMEOUT = 5000;

export type WriteQueue = CallQueue<Write, Written>;

export type QueuedWrite = QueuedCall<Write, Written>;

/** @param threads the number of threads with such a queue, which share the limit */
export function newWriteQueue(onLate: () => void = () => {}, threads = 1): WriteQueue {
  return new CallQueue<Write, Written>({
    timeout: TIMEOUT,
    full: 'too many writes are queued for the disk',
    late: `the database was busy for ${TIMEOUT / 1000} seconds: nothing was stored`,
    lengthLimit: Math.ceil(LENGTH_LIMIT / threads),
    onLate,
  });
}
