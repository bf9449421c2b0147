import { expect, test } from 'vitest';
import { idProblems } from '../../../src/adapters/storage-kit/ids-left.ts';
import { INT64_MAX } from '../../../src/domain/int64.ts';

test('a store that has no ids left has a problem', () => {
  expect(idProblems(INT64_MAX - 1n)).toEqual([]);
  expect(idProblems(INT64_MAX)).toEqual([
    { severity: 'error', message: expect.stringMatching(/^all ids have been assigned: export the pets/) },
  ]);
});
