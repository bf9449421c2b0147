import type { RateLimit } from '../adapters/http/index.ts';
import { expected, type Fault } from './settings.ts';

const RATE_LIMIT = /^([1-9]\d{0,5})\/(s|min|h)$/;
const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };

/** Parses a number of requests and a unit of time, such as `100/s`. */
export function parseRateLimit(text: string): RateLimit | undefined | Fault {
  if (text === '') return undefined;
  const [, requests, unit = ''] = RATE_LIMIT.exec(text) ?? [];
  const seconds = SECONDS_OF[unit];
  return seconds === undefined
    ? expected('a number of requests from 1 to 999999 per s, min or h, such as 100/s', text)
    : { requests: Number(requests), seconds };
}
