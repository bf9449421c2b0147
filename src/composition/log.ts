/** The log: JSON lines on standard error, readable ones when that is a terminal. Never a key, never a body. */

import { type DestinationStream, destination, type Logger, pino } from 'pino';
import type { OnAnswer, OnError } from '../adapters/http/answer.ts';
import type { StorageFault } from '../application/storage-fault.ts';
import type { LogLevel } from './config.ts';

export type { Logger } from 'pino';

const STANDARD_ERROR = 2;

/** There is one in a process, however many logs write to it. */
let standardError: DestinationStream | undefined;

export async function createLog(level: LogLevel): Promise<Logger> {
  standardError ??= process.stderr.isTTY ? await readable() : oncePerTurn();
  return pino({ level, base: null, timestamp: isoTime }, standardError);
}

async function readable(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    destination: STANDARD_ERROR,
    sync: true,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss.l',
  });
}

/**
 * The lines of a turn of the event loop in one write: a write costs more than a line does. Safe, because the turn is
 * over before anybody could learn of it; when the process ends in mid-turn, its exit writes them. The destination's
 * own buffer is of no use here: it is flushed with an fsync.
 */
function oncePerTurn(): DestinationStream {
  const output = destination({ dest: STANDARD_ERROR, sync: true });
  let lines = '';
  const flush = () => {
    if (lines !== '') output.write(lines);
    lines = '';
  };
  process.on('exit', flush);
  return {
    write(line) {
      if (lines === '') setImmediate(flush);
      lines += line;
    },
  };
}

let millisecond = Number.NaN;
let isoMember = '';

/** The member of a line that tells the time. To write a date costs as much as half a line, so it is kept for its millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    isoMember = `,"time":"${new Date(now).toISOString()}"`;
  }
  return isoMember;
}

/** How many kinds of request are kept. */
const KEPT_KINDS = 1000;

/**
 * One line per request. Left out where it would not be written, so that nothing is made for it. What requests of a kind
 * have in common is serialized once, in a child logger of theirs.
 */
export function requestLog(log: Logger): OnAnswer | undefined {
  if (!log.isLevelEnabled('info')) return undefined;
  const kinds = new Map<string, Logger>();
  return ({ method, route, status, keyId, ms, requestId, aborted }) => {
    const kind = `${method} ${route} ${status} ${keyId}`;
    let kindLog = kinds.get(kind);
    if (kindLog === undefined) {
      if (kinds.size >= KEPT_KINDS) kinds.clear();
      kindLog = log.child({ method, route, status, keyId });
      kinds.set(kind, kindLog);
    }
    kindLog.info({ ms, requestId, aborted }, 'request');
  };
}

/** One line when the storage cannot serve any more, or for another reason, and one when it can again. */
export function storageLog(log: Logger): (fault: StorageFault | undefined) => void {
  return (fault) => {
    if (fault === undefined) log.info('the storage is available again');
    else {
      const { reason, message, cause } = fault;
      log.error({ reason, detail: String(cause) }, `the storage is unavailable: ${message}`);
    }
  };
}

export function errorLog(log: Logger): OnError {
  return (err, requestId) => log.error({ err, requestId }, 'request failed');
}
