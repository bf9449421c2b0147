import { expect, test } from 'vitest';
import { newRequestId, requestIdOf } from '../../../src/adapters/http/api/observe.ts';

test('new ids differ, and grow from one prefix of the process', () => {
  const ids = Array.from({ length: 40 }, newRequestId);
  expect(new Set(ids).size).toBe(40);
  const [, prefix, first = ''] = /^([\w-]{8})-([\da-z]+)$/.exec(ids[0] ?? '') ?? [];
  expect(ids.at(-1)).toBe(`${prefix}-${(Number.parseInt(first, 36) + 39).toString(36)}`);
});

test('an id is compared with the key of the request and with secrets, unless it is too short to be one', () => {
  const id = 'fedcba9876543210'.repeat(2);
  const idFor = (given: string, authorization: string | undefined, isSecret: (text: string) => boolean) =>
    requestIdOf({ headers: { 'x-request-id': given, authorization } } as never, isSecret);
  expect(idFor(id, undefined, () => false)).toBe(id);
  expect(idFor(id, undefined, (text) => text === id)).not.toBe(id);
  expect(idFor(id, `Bearer ${id}`, () => false)).not.toBe(id);
  const short = id.slice(0, 15);
  expect(idFor(short, `Bearer ${short}`, () => true)).toBe(short);
});
