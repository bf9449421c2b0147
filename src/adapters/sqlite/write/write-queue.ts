import { CallQueue, type QueuedCall } from '../../../application/call-queue.ts';
import type { Write, Written } from './statement.ts';

/** The size is in bytes, and estimated from the values. */
const LENGTH_LIMIT = 10_000;
const SIZE_LIMIT = 32 * 1024 * 1024;

/** In milliseconds. */
const TIMEOUT = 5000;

const BYTES_PER_WRITE = 400;
const BYTES_PER_CODE_UNIT = 2;

export type WriteQueue = CallQueue<Write, Written>;

export type QueuedWrite = QueuedCall<Write, Written>;

/** @param threads the number of threads with such a queue, which share the limits */
export function newWriteQueue(onLate: () => void = () => {}, threads = 1): WriteQueue {
  return new CallQueue<Write, Written>({
    timeout: TIMEOUT,
    full: 'too many writes are queued for the disk',
    late: `the database was busy for ${TIMEOUT / 1000} seconds: nothing was stored`,
    lengthLimit: Math.ceil(LENGTH_LIMIT / threads),
    sizeLimit: Math.ceil(SIZE_LIMIT / threads),
    sizeOf,
    onLate,
  });
}

function sizeOf(write: Write): number {
  let size = BYTES_PER_WRITE;
  for (const statement of write) {
    for (const value of statement) {
      if (typeof value === 'string') size += BYTES_PER_CODE_UNIT * value.length;
      else if (value instanceof Uint8Array) size += value.byteLength;
    }
  }
  return size;
}
