import { expect, test } from 'vitest';
import { changedTables, codeOf, newerSchema } from '../../../src/adapters/storage-kit/store-errors.ts';

test('changed tables are damage, and the message names the change', () => {
  expect(changedTables('no column')).toMatchObject({
    reason: 'damaged',
    message: 'another program has changed the tables of the store (no column)',
  });
});

test('only a newer schema is refused', () => {
  expect([newerSchema('the file', 0, 5), newerSchema('the file', 5, 5)]).toEqual([undefined, undefined]);
  expect(newerSchema('the file', 6, 5)).toBe(
    'the file has schema version 6, this release supports 5: use the release that wrote it, or a newer one',
  );
});

test('an error without a code has an empty code', () => {
  expect(codeOf(Object.assign(new Error('x'), { code: 'ENOENT' }))).toBe('ENOENT');
  expect([codeOf(new Error('x')), codeOf({ code: 'x' }), codeOf(undefined)]).toEqual(['', '', '']);
});
