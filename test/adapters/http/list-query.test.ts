/** The cache of parsed query strings. The same object allows the response to a cached page to be sent again. */

import { expect, test } from 'vitest';
import { readListQuery } from '../../../src/adapters/http/api/schemas.ts';

/** A valid query string with this length. */
function queryOfLength(length: number): string {
  const start = 'limit=7&ignored=';
  return start + 'x'.repeat(length - start.length);
}

test('a query string that was read before gives the same object', () => {
  const query = readListQuery('limit=5&status=sold');
  expect(query).toEqual({ limit: 5, status: 'sold' });
  expect(readListQuery('limit=5&status=sold')).toBe(query);
  expect(readListQuery('status=sold&limit=5')).not.toBe(query);
});

test('a parameter that is not given is not in the query', () => {
  expect(Object.keys(readListQuery('status=sold'))).toEqual(['limit', 'status']);
});

test('only query strings of up to 200 characters are cached', () => {
  expect(readListQuery(queryOfLength(200))).toBe(readListQuery(queryOfLength(200)));
  const long = readListQuery(queryOfLength(201));
  expect(readListQuery(queryOfLength(201))).toEqual(long);
  expect(readListQuery(queryOfLength(201))).not.toBe(long);
});

test('the cache does not grow beyond 1,000 query strings', () => {
  const numbered = (number: number) => readListQuery(`limit=9&n=${number}`);
  const first = numbered(0);
  for (let number = 1; number < 10; number++) numbered(number);
  expect(numbered(0)).toBe(first);
  for (let number = 10; number <= 1000; number++) numbered(number);
  expect(numbered(0)).not.toBe(first);
});
