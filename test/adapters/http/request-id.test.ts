import { expect, test } from 'vitest';
import { newRequestId } from '../../../src/adapters/http/request-ids.ts';

test('new ids differ, and grow from one prefix of the process', () => {
  const ids = Array.from({ length: 40 }, () => newRequestId());
  expect(new Set(ids).size).toBe(40);
  const [, prefix, first = ''] = /^([\w-]{8})-([\da-z]+)$/.exec(ids[0] ?? '') ?? [];
  expect(ids.at(-1)).toBe(`${prefix}-${(Number.parseInt(first, 36) + 39).toString(36)}`);
});
