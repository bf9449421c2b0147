/**
 * Creates the log on standard error: readable lines if standard error is a terminal, or else JSON lines. The log never
 * contains an API key or a body.
 */

import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
import { errorFields } from './error-fields.ts';
import { LineWriter } from './line-writer.ts';
import { openStandardError } from './standard-error.ts';
import { reportSuppressed } from './throttle.ts';

export type { Logger } from 'pino';

/** How long the exit of the process may be delayed because nobody reads standard error, in milliseconds. */
const EXIT_TIMEOUT = 1000;

/** The destination of all logs of the process. */
let standardError: Promise<DestinationStream> | undefined;

/** @param fields returns additional fields for each line */
export async function createLog(level: LevelWithSilent, fields?: () => object): Promise<Logger> {
  standardError ??= standardErrorLines();
  return logTo(await standardError, level, fields);
}

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

async function standardErrorLines(): Promise<DestinationStream> {
  const { descriptor, isTerminal } = openStandardError();
  const readable = isTerminal
    ? (await import('pino-pretty')).prettyFactory({ singleLine: true, translateTime: 'SYS:HH:MM:ss.l' })
    : (line: string) => line;
  const writer = new LineWriter(descriptor, (count) => readable(droppedLine(count)));
  process.once('exit', () => {
    reportSuppressed();
    writer.end(EXIT_TIMEOUT);
  });
  return isTerminal ? { write: (line) => writer.write(readable(line)) } : writer;
}

function droppedLine(count: number): string {
  return `{"level":${pino.levels.values['warn']}${isoTime()},"dropped":${count},"msg":"log lines dropped"}\n`;
}

let millisecond = Number.NaN;
let isoMember = '';

/**
 * Returns the current time as a JSON member after a comma, as pino expects. The text is cached until the next
 * millisecond, because formatting a date is slow.
 */
function isoTime(): string {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    isoMember = `,"time":"${new Date(now).toISOString()}"`;
  }
  return isoMember;
}
