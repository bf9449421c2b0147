import { constants, fstatSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
import { errorFields } from './error-fields.ts';
import { LineWriter } from './line-writer.ts';
import { readableLines } from './readable.ts';
import { reportSuppressed } from './throttle.ts';

export type { DestinationStream, Logger } from 'pino';

/** How long the exit of the process may be delayed because nobody reads standard error, in milliseconds. */
const EXIT_TIMEOUT = 1000;

const STANDARD_ERROR = 2;

/** In a thread, too. */
export const isTerminal: boolean = isatty(STANDARD_ERROR);

const FLAGS = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** The destination of all logs of the process. */
let standardError: DestinationStream | undefined;

/** Returns the log on standard error: readable lines if it is a terminal, or else JSON lines. */
export function openLog(): DestinationStream {
  standardError ??= standardErrorLines();
  return standardError;
}

/** @param fields returns additional fields for each line */
export function logTo(destination: DestinationStream, level: LevelWithSilent, fields?: () => object): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: isoTime,
      serializers: { err: errorFields },
      ...(fields !== undefined && { mixin: fields }),
    },
    destination,
  );
}

function standardErrorLines(): DestinationStream {
  const readable = isTerminal ? readableLines(process.stderr.hasColors()) : (line: string) => line;
  const writer = new LineWriter(openStandardError(), (count) => readable(droppedLine(count)));
  process.once('exit', () => {
    reportSuppressed();
    writer.end(EXIT_TIMEOUT);
  });
  return isTerminal ? { write: (line) => writer.write(readable(line)) } : writer;
}

/**
 * Returns a descriptor of standard error on which no write blocks. A pipe or a terminal is opened again, because other
 * processes may share the non-blocking mode of the open one, and would fail with `EAGAIN`. A socket, which Node.js makes
 * non-blocking, cannot be opened again. A regular file must not be, because standard output may share its position.
 */
function openStandardError(): number {
  const stats = fstatSync(STANDARD_ERROR);
  if (!stats.isFIFO() && !stats.isCharacterDevice()) return STANDARD_ERROR;
  try {
    return openSync(`/proc/self/fd/${STANDARD_ERROR}`, FLAGS);
  } catch {
    return STANDARD_ERROR;
  }
}

function droppedLine(count: number): string {
  return `{"level":${pino.levels.values['warn']}${isoTime()},"dropped":${count},"msg":"log lines dropped"}\n`;
}

let millisecond = Number.NaN;
let isoMember = '';

/** Like pino's `isoTime`, but cached until the next millisecond, because formatting takes longer than the rest of a line. */
function isoTime(): string {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    isoMember = `,"time":"${new Date(now).toISOString()}"`;
  }
  return isoMember;
}
