/** The field lists alternate between names and values. */

import { describe, expect, test } from 'vitest';
import { ResponseHeaders } from '../../../src/adapters/http/fetch/response-headers.ts';

const linesOf = (headers: Headers) => [...headers].flat();

describe('the `Headers` of a response', () => {
  test('have the fields of this response, whatever the responses before it had', () => {
    const responses = new ResponseHeaders();
    for (const fields of [
      ['a', '1', 'b', '2'],
      ['a', '1', 'b', '3'],
      ['a', '1'],
      ['a', '4', 'c', '2'],
      ['a', '5', 'b', '3'],
      ['a', '1', 'b', '2'],
      [],
    ]) {
      expect(linesOf(responses.from(fields))).toEqual(fields);
    }
  });

  test('are one object for all responses with the same names, so that their number is limited', () => {
    const responses = new ResponseHeaders();
    const first = responses.from(['a', '1', 'b', '2']);
    const other = responses.from(['a', '1', 'c', '2']);
    expect(other).not.toBe(first);
    for (const value of ['3', '3', '4']) expect(responses.from(['a', '1', 'b', value])).toBe(first);
    expect(responses.from(['a', '9', 'c', '2'])).toBe(other);
    expect(responses.from(['a', '1'])).not.toBe(first);
  });

  test('do not change with the list that they were made of', () => {
    const responses = new ResponseHeaders();
    const fields = ['a', '1'];
    responses.from(fields);
    fields[1] = '2';
    expect(linesOf(responses.from(fields))).toEqual(['a', '2']);
  });
});
