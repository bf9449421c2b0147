import { expect, test } from 'vitest';
import { idProblems } from '../../src/application/ids-left.ts';
import { INT64_MAX } from '../../src/domain/int64.ts';

const WAY_OUT = 'export the pets, and import them with --new-ids into a new store';
const few = (left: bigint) => [
  { severity: 'warning', message: `only ${left} ids are left for new pets: ${WAY_OUT}` },
];

test.each([
  [0n, [{ severity: 'error', message: `all ids have been assigned: ${WAY_OUT}` }]],
  [1n, few(1n)],
  [2n ** 32n - 1n, few(2n ** 32n - 1n)],
  [2n ** 32n, []],
])('the problems of a store that has %d ids left', (left, problems) => {
  expect(idProblems(INT64_MAX - left)).toEqual(problems);
});
