import { expect, test } from 'vitest';
import { idProblems, idsExhausted } from '../../src/application/ids-left.ts';
import { INT64_MAX } from '../../src/domain/int64.ts';

test.each([
  [0n, 'error', 'all ids have been assigned'],
  [1n, 'warning', 'only 1 ids are left for new pets'],
  [2n ** 32n - 1n, 'warning', 'only 4294967295 ids are left for new pets'],
])('a store that has %d ids left has a problem', (left, severity, fault) => {
  const message = `${fault}: export the pets, and import them with --new-ids into a new store`;
  expect(idProblems(INT64_MAX - left)).toEqual([{ severity, message }]);
  expect(idProblems(INT64_MAX - 2n ** 32n)).toEqual([]);
  expect(idsExhausted().reason).toBe('ids_exhausted');
});
