/** The logger, and standard error as its destination. */

import { constants, fstatSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
import { withoutApiKeys } from '../../domain/api-key.ts';
import { errorFields } from './error-fields.ts';
import { reportSuppressed } from './observer.ts';
import { readableLine } from './readable.ts';

export type { DestinationStream, Logger } from 'pino';

const STANDARD_ERROR = 2;

export const isTerminal: boolean = isatty(STANDARD_ERROR);

/** The size of the buffer in bytes, beyond which lines are dropped and counted. */
const BUFFER_LIMIT = 1024 * 1024;

/** When a write is tried again after an error such as a full disk, in milliseconds. */
const RETRY_INTERVAL = 1000;

/** How long the exit of the process may wait for a reader of standard error, in milliseconds. */
const EXIT_TIMEOUT = 1000;

/** The destination of all logs of the process. */
let standardError: DestinationStream | undefined;

export function logTo(destination: DestinationStream, level: LevelWithSilent): Logger {
  const timestamp = pino.stdTimeFunctions.isoTime;
  const hooks = { streamWrite: withoutApiKeys };
  return pino({ level, base: null, timestamp, serializers: { err: errorFields }, hooks }, destination);
}

/** Returns the log on standard error: readable lines if it is a terminal, or else JSON lines. */
export function openLog(): DestinationStream {
  if (standardError !== undefined) return standardError;
  const lines = openDestination();
  const hasColours = isTerminal && process.stderr.hasColors();
  standardError = isTerminal ? { write: (line) => lines.write(readableLine(line, hasColours)) } : lines;
  return standardError;
}

/** No fault of standard error ends or blocks the server: lines wait in a buffer, or are dropped and counted. */
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
  destination.on('error', () => {
    hasFailed = true;
  });
  // A full buffer accepts no line whose write would try again what has failed.
  setInterval(() => hasFailed && destination.flush(), RETRY_INTERVAL).unref();
  destination.on('write', () => {
    hasFailed = false;
  });
  destination.on('drop', () => {
    dropped += 1;
  });
  destination.on('drain', () => {
    if (dropped === 0) return;
    const count = dropped;
    dropped = 0;
    logTo(openLog(), 'warn').warn({ dropped: count }, 'log lines dropped');
  });
  // Before the listener of pino, which would wait forever for a full disk or for the reader of a full pipe.
  process.prependOnceListener('exit', () => {
    reportSuppressed();
    exitAt = performance.now() + EXIT_TIMEOUT;
    try {
      if (!hasFailed) destination.flushSync();
    } catch {
      // Nobody reads the rest.
    }
    destination.destroy();
  });
  return destination;
}

/**
 * Returns a descriptor of standard error on which no write blocks. A pipe or a terminal is opened again, because other
 * processes may share the non-blocking mode of the open one, and would fail with `EAGAIN`. A socket cannot be opened again,
 * and a regular file must not be, because standard output may share its position.
 */
function openStandardError(): number {
  const stats = fstatSync(STANDARD_ERROR);
  if (!stats.isFIFO() && !stats.isCharacterDevice()) return STANDARD_ERROR;
  try {
    const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
    return openSync(`/proc/self/fd/${STANDARD_ERROR}`, flags);
  } catch {
    return STANDARD_ERROR;
  }
}
