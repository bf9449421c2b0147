/** The log: JSON lines on standard error, readable ones when that is a terminal. Never a key, never a body. */

import { type DestinationStream, destination, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';
import type { OnAnswer, OnError } from '../adapters/http/answer.ts';
import type { LogLevel } from './config.ts';

export type { Logger } from 'pino';

const STANDARD_ERROR = 2;

export function createLog(level: LogLevel): Logger {
  const stream: DestinationStream = process.stderr.isTTY
    ? pretty({
        destination: STANDARD_ERROR,
        sync: true,
        ignore: 'pid,hostname',
        translateTime: 'SYS:HH:MM:ss.l',
      })
    : destination({ dest: STANDARD_ERROR, sync: true });
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
}

/** One line per request. Left out where it would not be written, so that nothing is made for it. */
export function requestLog(log: Logger): OnAnswer | undefined {
  if (!log.isLevelEnabled('info')) return undefined;
  return (request) => log.info(request, 'request');
}

export function errorLog(log: Logger): OnError {
  return (err, requestId) => log.error({ err, requestId }, 'request failed');
}
