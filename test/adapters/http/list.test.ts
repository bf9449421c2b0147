/** The rules for the query of `GET /v1/pets`. `every-storage.test.ts` tests the pages. */

import { describe, expect, test } from 'vitest';
import { listQueryReader } from '../../../src/adapters/http/api/schemas.ts';
import { sharedServer } from '../../support/server.ts';

describe('the query of GET /v1/pets', () => {
  const server = sharedServer('memory');
  const messageFor = async (query: string) => {
    const { status, body } = await server.client.get(`/v1/pets?${query}`);
    expect(status, query).toBe(400);
    return JSON.parse(body).message;
  };
  const LIMIT = 'limit must be an integer from 1 to 100';
  const STATUS = 'status must be one of available, pending, sold';
  const AFTER = 'after must be an integer from -9223372036854775808 to 9223372036854775807';

  test.each([
    [
      'limit',
      '0 -1 101 1e1 1.0 1.5 +5 05 5+ %205 0x5 ten 5,6 99999999999999999999 %EF%BC%95 5%00 NaN -0',
      LIMIT,
    ],
    ['status', 'gone Sold sold%20 sold,pending null toString %00', STATUS],
    ['after', 'x 1.0 1e1 +1 01 -0 9223372036854775808 -9223372036854775809 %zz', AFTER],
  ])('must have a valid %s, not %s', async (name, values, message) => {
    for (const value of values.split(' ')) expect(await messageFor(`${name}=${value}`)).toBe(message);
    for (const query of [name, `${name}=`]) expect(await messageFor(query)).toBe(message);
    for (const query of [
      `${name}=5&${name}=5`,
      `${name}&${name}=1`,
      `${name}=1&%${name.charCodeAt(0).toString(16)}${name.slice(1)}=1`,
    ]) {
      expect(await messageFor(query)).toBe(`${name} must be given once`);
    }
  });

  test('names every invalid parameter', async () => {
    expect(await messageFor('limit=0&status=gone&after=x')).toBe([LIMIT, STATUS, AFTER].join('; '));
  });

  test('may have undefined parameters, which are ignored', async () => {
    const queries =
      'page=2 offset=5 Limit=0 limit[]=0 limit%00=0 __proto__=1 toString &&& = %zz=%zz % %C3 x=%FF';
    for (const query of [...queries.split(' '), 'x='.padEnd(4000, 'y')]) {
      expect((await server.client.get(`/v1/pets?${query}`)).status, query).toBe(200);
      expect(await messageFor(`limit=0&${query}`)).toBe(LIMIT);
    }
  });
});

describe('the cache of parsed queries, whose objects let the response to a cached page be sent again', () => {
  const readListQuery = listQueryReader();
  const ofLength = (length: number) => readListQuery('limit=7&ignored='.padEnd(length, 'x'));

  test('gives the same object for the same text', () => {
    const query = readListQuery('limit=5&status=sold');
    expect(query).toEqual({ limit: 5, status: 'sold' });
    expect(readListQuery('limit=5&status=sold')).toBe(query);
    expect(readListQuery('status=sold&limit=5')).not.toBe(query);
    expect(Object.keys(readListQuery('status=sold'))).toEqual(['limit', 'status']);
  });

  test('has up to 1,000 texts of up to 200 characters', () => {
    expect(ofLength(200)).toBe(ofLength(200));
    expect(ofLength(201)).toEqual(ofLength(201));
    expect(ofLength(201)).not.toBe(ofLength(201));
    const numbered = (number: number) => readListQuery(`limit=9&n=${number}`);
    const first = numbered(0);
    for (let number = 1; number < 10; number++) numbered(number);
    expect(numbered(0)).toBe(first);
    for (let number = 10; number <= 1000; number++) numbered(number);
    expect(numbered(0)).not.toBe(first);
  });
});
