/** The log: JSON lines on standard error, readable ones when that is a terminal. Never a key, never a body. */

import { type DestinationStream, type LevelWithSilent, type Logger, pino } from 'pino';
import { errorFields } from './error-fields.ts';
import { LineWriter } from './line-writer.ts';
import { openStandardError } from './standard-error.ts';

export type { Logger } from 'pino';

/** How long an exit waits for a reader of standard error, in milliseconds. */
const EXIT_TIMEOUT = 1000;

/** There is one in a process, however many logs write to it. */
let standardError: DestinationStream | undefined;

export async function createLog(level: LevelWithSilent): Promise<Logger> {
  standardError ??= await standardErrorLines();
  return logTo(standardError, level);
}

export function logTo(destination: DestinationStream, level: LevelWithSilent): Logger {
  return pino({ level, base: null, timestamp: isoTime, serializers: { err: errorFields } }, destination);
}

async function standardErrorLines(): Promise<DestinationStream> {
  const { descriptor, isTerminal } = openStandardError();
  const readable = isTerminal ? await readableLine() : (line: string) => line;
  const writer = new LineWriter(descriptor, (count) => readable(droppedLine(count)));
  process.once('exit', () => writer.end(EXIT_TIMEOUT));
  return isTerminal ? { write: (line) => writer.write(readable(line)) } : writer;
}

async function readableLine(): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  return prettyFactory({ singleLine: true, translateTime: 'SYS:HH:MM:ss.l' });
}

function droppedLine(count: number): string {
  return `{"level":${pino.levels.values['warn']}${isoTime()},"dropped":${count},"msg":"log lines dropped"}\n`;
}

let millisecond = Number.NaN;
let isoMember = '';

/** The member of a line that tells the time. To format a date costs as much as half a line, so it is cached for its millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    isoMember = `,"time":"${new Date(now).toISOString()}"`;
  }
  return isoMember;
}
