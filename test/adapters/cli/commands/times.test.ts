import { describe, expect, test } from 'vitest';
import { parseDuration, parseExpiry } from '../../../../src/adapters/cli/commands/times.ts';
import { day, lastDay, moment } from '../../../../src/adapters/cli/output/format.ts';

const HOUR = 60 * 60 * 1000;
const NOW = Date.UTC(2026, 10, 21, 14, 5, 59);

describe('a duration', () => {
  test.each([
    ['7d', 7 * 24 * HOUR],
    ['12h', 12 * HOUR],
    ['30m', HOUR / 2],
    ['0', 0],
    ['0d', 0],
    ['007d', 7 * 24 * HOUR],
  ])('%s', (text, expected) => {
    expect(parseDuration(text, '--overlap')).toBe(expected);
  });

  test.each(['', '7 d', ...'7 d -1d 1.5d 7D 7days 1w 00 2027-01-31 1234567890d ٣d'.split(' ')])(
    '%j is refused',
    (text) => {
      expect(() => parseDuration(text, '--overlap')).toThrow(
        `--overlap: expected a duration such as 7d, 12h or 30m, got '${text}'`,
      );
    },
  );
});

describe('an expiry', () => {
  test.each([
    ['90d', NOW + 90 * 24 * HOUR],
    ['1m', NOW + 60_000],
    ['2026-11-21', Date.UTC(2026, 10, 22)],
    ['2027-01-31', Date.UTC(2027, 1, 1)],
    ['2028-02-29', Date.UTC(2028, 2, 1)],
    ['9999-12-31', Date.UTC(10_000, 0, 1) - 1],
  ])('%s', (text, expected) => {
    expect(parseExpiry(text, '--expires', NOW)).toBe(expected);
  });

  test.each([
    ...'2027-02-30 2027-02-29 2027-13-01 2027-00-10'
      .split(' ')
      .map((text) => [text, 'expected a date of the calendar']),
    ...'2026-11-20 0001-01-01 0d 0m'.split(' ').map((text) => [text, 'must be in the future']),
    ['999999999d', 'must not be later than 9999-12-31'],
    ...['', ...'tomorrow 2027-1-31 2027-01-31T00:00:00Z 31.01.2027 -1d 0'.split(' ')].map((text) => [
      text,
      'expected a duration such as 90d',
    ]),
  ])('%j is refused', (text = '', reason) => {
    expect(() => parseExpiry(text, '--expires', NOW)).toThrow(`--expires: ${reason}`);
    expect(() => parseExpiry(text, '--expires', NOW)).toThrow(`, got '${text}'`);
  });
});

test('times are shown in UTC, and an expiry at midnight as the day before', () => {
  expect(day(NOW)).toBe('2026-11-21');
  expect(moment(NOW)).toBe('2026-11-21 14:05 UTC');
  expect(lastDay(Date.UTC(2027, 1, 1))).toBe('2027-01-31');
  const end = parseExpiry('9999-12-31', '--expires', NOW) ?? 0;
  expect([lastDay(end), moment(end)]).toEqual(['9999-12-31', '9999-12-31 23:59 UTC']);
  expect(lastDay(Date.UTC(2027, 1, 1, 0, 0, 1))).toBe('2027-02-01');
});
