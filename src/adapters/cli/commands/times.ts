import { UsageError } from '../errors.ts';
import { day } from '../output/format.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const LENGTH_OF: Readonly<Record<string, number>> = { m: MINUTE, h: 60 * MINUTE, d: DAY };

const DURATION = /^(\d{1,9})([mhd])$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The year of a later time would have more than four digits. */
const LAST_TIME = Date.UTC(10_000, 0, 1) - 1;

/** Parses a duration such as `7d`, `12h`, `30m` or `0` into milliseconds. */
export function parseDuration(text: string, option: string): number {
  const length = text === '0' ? 0 : lengthOf(text);
  if (Number.isNaN(length)) throw invalid(option, 'expected a duration such as 7d, 12h or 30m', text);
  return length;
}

/** Parses a duration from `now`, a date in UTC, which means the end of that day, or `never`, which is `null`. */
export function parseExpiry(text: string, option: string, now: number): number | null {
  if (text === 'never') return null;
  const isDate = DATE.test(text);
  const time = isDate ? endOfDay(text) : now + lengthOf(text);
  if (Number.isNaN(time)) {
    const duration = 'a duration such as 90d, 12h or 30m, a date such as 2027-01-31, or never';
    throw invalid(option, `expected ${isDate ? 'a date of the calendar' : duration}`, text);
  }
  if (time > LAST_TIME) throw invalid(option, 'must not be later than 9999-12-31', text);
  if (time <= now) throw invalid(option, 'must be in the future', text);
  return time;
}

function lengthOf(text: string): number {
  const [, count, unit = ''] = DURATION.exec(text) ?? [];
  return Number(count) * (LENGTH_OF[unit] ?? Number.NaN);
}

/** Returns `NaN` if the day does not exist. `Date.parse` accepts February 30th as March 2nd. */
function endOfDay(text: string): number {
  const start = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(start) && day(start) === text ? Math.min(start + DAY, LAST_TIME) : Number.NaN;
}

function invalid(option: string, rule: string, text: string): UsageError {
  return new UsageError(`${option}: ${rule}, got '${text}'`);
}
