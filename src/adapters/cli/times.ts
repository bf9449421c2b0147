/** Parses and formats times for users. All times are UTC. */

import { UsageError } from './errors.ts';

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;
const LENGTH_OF: Readonly<Record<string, number>> = { m: 60 * SECOND, h: 60 * 60 * SECOND, d: DAY };

const DURATION = /^(\d{1,9})([mhd])$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The last millisecond of the year 9999. The year of a later time would have more than four digits. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Parses a duration such as `7d`, `12h`, `30m` or `0` into milliseconds. */
export function parseDuration(text: string, option: string): number {
  const [, count = '', unit = ''] = DURATION.exec(text) ?? [];
  if (text !== '0' && unit === '') {
    throw new UsageError(`${option}: expected a duration such as 7d, 12h or 30m, got '${text}'`);
  }
  return Number(count) * (LENGTH_OF[unit] ?? 0);
}

/**
 * Parses an expiry into milliseconds since the Unix epoch, or into `null` for the text `never`. An expiry is a duration
 * from `now`, or a date, which means the end of that day.
 */
export function parseExpiry(text: string, option: string, now: number): number | null {
  if (text === 'never') return null;
  const time = DATE.test(text) ? endOfDay(text) : now + parseLength(text, option);
  if (time === undefined) throw new UsageError(`${option}: expected a date of the calendar, got '${text}'`);
  if (time > LAST_TIME + 1)
    throw new UsageError(`${option}: must not be later than 9999-12-31, got '${text}'`);
  if (time <= now) throw new UsageError(`${option}: must be in the future, got '${text}'`);
  return time;
}

/** Formats a time as a date, such as `2027-01-31`. */
export function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Formats a time as a date and a time of day, such as `2027-01-31 14:05 UTC`. */
export function moment(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/**
 * Formats the last day on which a key is active: the date of the last millisecond before `expiresAt`. For a key that
 * expires at midnight, this is the day that ends at that time.
 */
export function lastDay(expiresAt: number): string {
  return day(expiresAt - 1);
}

function parseLength(text: string, option: string): number {
  if (!DURATION.test(text)) {
    throw new UsageError(
      `${option}: expected a duration such as 90d, 12h or 30m, a date such as 2027-01-31, or never, got '${text}'`,
    );
  }
  return parseDuration(text, option);
}

/**
 * Returns the end of a day, or `undefined` if the day does not exist. The parsed date is formatted again and compared
 * with `text`, because `Date.parse` accepts February 30th as March 2nd.
 */
function endOfDay(text: string): number | undefined {
  const start = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(start) && day(start) === text ? start + DAY : undefined;
}
