import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { durationOf, expiry, ifMatchTags, pageLimit } from '../../../src/adapters/cli/arguments.ts';
import { day, moment } from '../../../src/adapters/cli/format.ts';

const HOUR = 60 * 60 * 1000;
const NOW = Date.UTC(2026, 10, 21, 14, 5, 59);

test.each([
  ['7d', 7 * 24 * HOUR],
  ['12h', 12 * HOUR],
  ['30m', HOUR / 2],
  ['0', 0],
])('the duration %s', (text, expected) => {
  expect(durationOf(text)).toBe(expected);
});

test.each(['', '7 d', '-1d', '1.5d', '7days', '2027-01-31', '99999999d'])(
  'the duration %j is refused',
  (text) => {
    expect(() => durationOf(text)).toThrow('expected a duration such as 7d, 12h or 30m, or 0');
  },
);

describe('an expiry', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }));
  afterEach(() => void vi.useRealTimers());

  test.each([
    ['90d', NOW + 90 * 24 * HOUR],
    ['2026-11-21', Date.UTC(2026, 10, 22)],
    ['2028-02-29', Date.UTC(2028, 2, 1)],
    ['9999-12-31', Date.UTC(10_000, 0, 1) - 1],
  ])('%s', (text, expected) => {
    expect(expiry(text)).toBe(expected);
  });

  test.each([
    ['2027-02-29', 'expected a duration such as 90d'],
    ['tomorrow', 'expected a duration such as 90d'],
    ['', 'expected a duration such as 90d'],
    ['2026-11-20', 'must be in the future'],
    ['0d', 'must be in the future'],
    ['99999999d', 'expected a duration such as 90d'],
    ['x2028-02-29', 'expected a duration such as 90d'],
    ['2028-02-29x', 'expected a duration such as 90d'],
  ])('%j is refused', (text, reason) => {
    expect(() => expiry(text)).toThrow(reason);
  });
});

test('a page has 1 to 100 pets', () => {
  expect(['1', '100'].map(pageLimit)).toEqual([1, 100]);
  for (const text of ['0', '101']) expect(() => pageLimit(text)).toThrow('expected an integer from 1 to 100');
});

test('an entity tag that no pet can have is refused', () => {
  for (const text of ['""', 'a b', '"a', 'W/"a"', '"a", "b"'])
    expect(() => ifMatchTags(text)).toThrow('expected one strong entity tag');
});

test('times are shown in UTC', () => {
  expect([day(NOW), moment(NOW)]).toEqual(['2026-11-21', '2026-11-21 14:05:59 UTC']);
  // A key with this expiry fails after the time that is shown.
  expect(moment(NOW + 1)).toBe('2026-11-21 14:06:00 UTC');
  expect(moment(Date.UTC(10_000, 0) - 1)).toBe('9999-12-31 23:59:59 UTC');
});
