import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { durationOf, expiry } from '../../../src/adapters/cli/arguments.ts';
import { day, duration, moment } from '../../../src/adapters/cli/format.ts';

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
    expect(durationOf(text)).toBe(expected);
  });

  test.each(['', '7 d', ...'7 d -1d 1.5d 7D 7days 1w 00 2027-01-31 1234567890d ٣d'.split(' ')])(
    '%j is refused',
    (text) => {
      expect(() => durationOf(text)).toThrow('expected a duration such as 7d, 12h or 30m, or 0');
    },
  );
});

describe('an expiry', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }));
  afterEach(() => void vi.useRealTimers());

  test.each([
    ['90d', NOW + 90 * 24 * HOUR],
    ['1m', NOW + 60_000],
    ['2026-11-21', Date.UTC(2026, 10, 22)],
    ['2027-01-31', Date.UTC(2027, 1, 1)],
    ['2028-02-29', Date.UTC(2028, 2, 1)],
    ['9999-12-31', Date.UTC(10_000, 0, 1) - 1],
  ])('%s', (text, expected) => {
    expect(expiry(text)).toBe(expected);
  });

  test.each([
    ...'2027-02-30 2027-02-29 2027-13-01 2027-00-10'
      .split(' ')
      .map((text) => [text, 'expected a duration such as 90d']),
    ...'2026-11-20 0001-01-01 0d 0m'.split(' ').map((text) => [text, 'must be in the future']),
    ['999999999d', 'must not be later than 9999-12-31'],
    ...['', ...'tomorrow 2027-1-31 2027-01-31T00:00:00Z 31.01.2027 -1d 0'.split(' ')].map((text) => [
      text,
      'expected a duration such as 90d',
    ]),
  ])('%j is refused', (text = '', reason) => {
    expect(() => expiry(text)).toThrow(reason);
  });
});

test.each([
  [7.6, '8 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [3940, '3.9 s'],
  [9951, '10 s'],
  [4_830_000, '4,830 s'],
])('%d ms are shown as %s', (milliseconds, expected) => {
  expect(duration(milliseconds)).toBe(expected);
});

test('times are shown in UTC', () => {
  expect([day(NOW), moment(NOW)]).toEqual(['2026-11-21', '2026-11-21 14:05 UTC']);
});
