/** The cache of parsed queries. `recorded` tests the rules of queries, and `every-storage.test.ts` the pages. */

import { describe, expect, test } from 'vitest';
import { listQueryReader } from '../../../src/adapters/http/schemas.ts';

describe('the cache of parsed queries, whose objects let the response to a cached page be sent again', () => {
  const readListQuery = listQueryReader();

  test('gives the same object for the same text', () => {
    const query = readListQuery('limit=5&after=7');
    expect(query).toEqual({ limit: 5, after: 7n });
    expect(readListQuery('limit=5&after=7')).toBe(query);
    expect(readListQuery('after=7&limit=5')).not.toBe(query);
    expect(Object.keys(readListQuery('after=7'))).toEqual(['limit', 'after']);
  });

  test('has up to 1,000 texts', () => {
    const numbered = (number: number) => readListQuery(`limit=9&n=${number}`);
    const first = numbered(0);
    for (let number = 1; number < 10; number++) numbered(number);
    expect(numbered(0)).toBe(first);
    for (let number = 10; number <= 1000; number++) numbered(number);
    expect(numbered(0)).not.toBe(first);
  });
});
