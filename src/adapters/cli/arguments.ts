/** Parsers of arguments and of the values of options. They throw an `InvalidArgumentError` for an invalid text. */

import { InvalidArgumentError } from 'commander';
import { programWith } from '../../application/create-pet.ts';
import type { IfMatch } from '../../application/entity-tag.ts';
import { LIMIT_MAX, LIMIT_MIN, limitFault } from '../../application/list-pets.ts';
import type { Caller } from '../../application/ports/idempotent-creates.ts';
import { apiKeyName } from '../../domain/api-key.ts';
import { idempotencyKey } from '../../domain/idempotency-key.ts';
import { INT64_MAX, INT64_MIN, parseInt64 } from '../../domain/int64.ts';
import { day } from './format.ts';

type Parser<T> = (text: string) => T;

const DAY = 24 * 60 * 60_000;
const LENGTH_OF: Readonly<Record<string, number>> = { m: 60_000, h: 60 * 60_000, d: DAY };

export const CREATE_STORE = ['--create-store', 'create the store if it does not exist'] as const;
export const JSON_RESULT = ['--json', 'print the result as JSON'] as const;

export const int64: Parser<bigint> = (text) =>
  parseInt64(text) ?? refuse(`expected an integer from ${INT64_MIN} to ${INT64_MAX}`);

/** The number of pets on a page. */
export const pageLimit: Parser<number> = (text) => {
  const value = Number(parseInt64(text) ?? 0);
  return limitFault(value) ? refuse(`expected an integer from ${LIMIT_MIN} to ${LIMIT_MAX}`) : value;
};

/** An entity tag, or `*`. The quotes of the tag are optional, because a shell can remove them. */
export const ifMatchTags: Parser<IfMatch> = (text) => {
  if (text === '*') return text;
  const [, , tag] = /^("?)([!#-~]+)\1$/.exec(text) ?? [];
  return tag ? [`"${tag}"`] : refuse('expected one strong entity tag, such as "etag" of changes, or *');
};

export const keyId: Parser<string> = (text) =>
  parseInt64(text) === undefined ? refuse('expected the id of a key, such as 3, see keys list') : text;

export const keyName: Parser<string> = checkedBy(apiKeyName);

export const callerWith: Parser<Caller | undefined> = checkedBy((key) => programWith(idempotencyKey(key)));

export const file: Parser<string> = (text) => text || refuse('expected the path of a file');

export const changeCursor: Parser<string> = (text) =>
  /^[0-9a-f]{16}-\d+$/.test(text)
    ? text
    : refuse('expected the cursor of a change, such as 0123456789abcdef-7');

/** Parses a duration such as `7d`, `12h`, `30m` or `0`. Returns milliseconds. */
export const durationOf: Parser<number> = (text) => {
  const length = text === '0' ? 0 : lengthOf(text);
  return Number.isNaN(length) ? refuse('expected a duration such as 7d, 12h or 30m, or 0') : length;
};

/** The time of an expiry: a duration from now, a date (the end of that day in UTC), or `never`. */
export const expiry: Parser<number | 'never'> = (text) => {
  if (text === 'never') return text;
  const now = Date.now();
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? endOfDay(text) : now + lengthOf(text);
  if (time > now) return time;
  const form = 'expected a duration such as 90d, 12h or 30m, a valid date such as 2027-01-31, or never';
  return refuse(Number.isNaN(time) ? form : 'must be in the future');
};

/** Returns a duration in milliseconds. It has at most 99,999 days, so that the year of every expiry has four digits. */
function lengthOf(text: string): number {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  return Number(count) * (LENGTH_OF[unit] ?? Number.NaN);
}

/** Returns `NaN` if the day does not exist. `Date.parse` alone would read February 30th as a day in March. */
function endOfDay(text: string): number {
  const start = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(start) && day(start) === text
    ? Math.min(start + DAY, Date.UTC(10_000, 0) - 1)
    : Number.NaN;
}

function checkedBy<T>(check: Parser<T>): Parser<T> {
  return (text) => {
    try {
      return check(text);
    } catch (error) {
      return refuse((error as Error).message);
    }
  };
}

function refuse(rule: string): never {
  throw new InvalidArgumentError(rule);
}
