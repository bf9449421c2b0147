/** Times as a user writes and reads them. All are UTC. */

import { UsageError } from './errors.ts';

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;
const LENGTH_OF: Readonly<Record<string, number>> = { m: 60 * SECOND, h: 60 * 60 * SECOND, d: DAY };

const DURATION = /^(\d{1,9})([mhd])$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** What a year of four digits can say. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Reads `7d`, `12h`, `30m` or `0` as milliseconds. */
export function parseDuration(text: string, option: string): number {
  const [, count = '', unit = ''] = DURATION.exec(text) ?? [];
  if (text !== '0' && unit === '') {
    throw new UsageError(`${option}: '${text}' is given, a time such as 7d, 12h or 30m is allowed`);
  }
  return Number(count) * (LENGTH_OF[unit] ?? 0);
}

/**
 * Reads the moment at which something ends, in milliseconds since the Unix epoch: so long after `now`, or with the end
 * of a day.
 */
export function parseExpiry(text: string, option: string, now: number): number {
  const time = DATE.test(text) ? endOfDay(text) : now + parseLength(text, option);
  if (time === undefined) throw new UsageError(`${option}: '${text}' is given, and no day of the calendar`);
  if (time > LAST_TIME + 1) throw new UsageError(`${option}: '${text}' is given, and beyond the year 9999`);
  if (time <= now) throw new UsageError(`${option}: '${text}' is given, and over already`);
  return time;
}

/** `2027-01-31` */
export function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** `2027-01-31 14:05 UTC` */
export function moment(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** The last day on which something that ends is there: what ends at midnight has had its last day the day before. */
export function lastDay(end: number): string {
  return day(end - 1);
}

function parseLength(text: string, option: string): number {
  if (!DURATION.test(text)) {
    throw new UsageError(
      `${option}: '${text}' is given, a time such as 90d, 12h or 30m or a day such as 2027-01-31 is allowed`,
    );
  }
  return parseDuration(text, option);
}

/** The calendar is asked back: it takes the 30th of February for the 2nd of March. */
function endOfDay(text: string): number | undefined {
  const start = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(start) && day(start) === text ? start + DAY : undefined;
}
