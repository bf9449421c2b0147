import { expect, test } from 'vitest';
import { codeOf, newerSchema } from '../../../src/adapters/storage-kit/store-errors.ts';

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
