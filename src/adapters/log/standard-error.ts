/** Standard error as the destination of the log. End-to-end tests cover a full disk, and a stream that is closed or not read. */

import { constants, fstatSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type DestinationStream, pino } from 'pino';
import { logTo } from './log.ts';
import { reportSuppressed } from './observer.ts';
import { readableLine } from './readable.ts';

/** The size of the buffer in bytes, beyond which lines are dropped and counted. */
const BUFFER_LIMIT = 1024 * 1024;

/** The destination of all logs of the process. */
let standardError: DestinationStream | undefined;

/** Returns the log on standard error. It has readable lines if standard error is a terminal, and otherwise JSON lines. */
export function openLog(): DestinationStream {
  if (standardError !== undefined) return standardError;
  const lines = openDestination();
  const readable = { write: (line: string) => lines.write(readableLine(line, process.stderr.hasColors())) };
  standardError = isatty(2) ? readable : lines;
  return standardError;
}

/** Writes the buffered lines, and then calls `done`. `undefined` until the log is opened. */
let flush: ((done: () => void) => void) | undefined;

/**
 * Resolves when all lines so far are written, but after half a second at the latest. Without this, a line that is being written
 * when the process exits could be lost, or be written after the lines that follow it.
 */
export function flushLog(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 500);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    if (flush === undefined) done();
    else flush(done);
  });
}

/** A fault of standard error neither ends nor blocks the server: lines are buffered, or dropped and counted. */
function openDestination(): DestinationStream {
  let hasFailed = false;
  let dropped = 0;
  let exitAt = Infinity;
  const destination = pino.destination({
    dest: openStandardError(),
    sync: false,
    // Without a minimum, `flush` would do nothing.
    minLength: 1,
    maxLength: BUFFER_LIMIT,
    retryEAGAIN: () => performance.now() < exitAt,
  });
  flush = (done) => destination.flush(done);
  destination.on('error', () => {
    hasFailed = true;
  });
  destination.on('write', () => {
    hasFailed = false;
  });
  // After a fault such as a full disk, pino would try again only with the next line, but a full buffer accepts no line.
  setInterval(() => hasFailed && destination.flush(), 1000).unref();
  destination.on('drop', () => {
    dropped += 1;
  });
  destination.on('drain', () => {
    const count = dropped;
    dropped = 0;
    if (count > 0) logTo(openLog(), 'warn').warn({ dropped: count }, 'log lines dropped');
  });
  // This runs before the listener of pino, which would wait forever if the disk is full, or if nobody reads a full pipe.
  process.prependOnceListener('exit', () => {
    reportSuppressed();
    // If a pipe is full, this waits for its reader for at most one more second.
    exitAt = performance.now() + 1000;
    try {
      if (!hasFailed) destination.flushSync();
    } catch {
      // The remaining lines cannot be written.
    }
    destination.destroy();
  });
  return destination;
}

/**
 * Reopens a pipe or a terminal, so that no write blocks. A file is not reopened, because standard output may share its position.
 */
function openStandardError(): number {
  const stats = fstatSync(2);
  if (!stats.isFIFO() && !stats.isCharacterDevice()) return 2;
  try {
    const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
    return openSync('/proc/self/fd/2', flags);
  } catch {
    return 2;
  }
}
