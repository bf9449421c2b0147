import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome } from '../../../../src/adapters/sqlite/write/batch.ts';
import {
  packOutcomes,
  packWrites,
  unpackOutcomes,
  unpackWrites,
} from '../../../../src/adapters/sqlite/write/codec.ts';
import type { Statement, Value, Write } from '../../../../src/adapters/sqlite/write/statement.ts';
import { runs } from '../../../support/property-runs.ts';

const value: fc.Arbitrary<Value> = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.uint8Array(),
  fc.constant(null),
);
const statement: fc.Arbitrary<Statement> = fc
  .tuple(fc.oneof(fc.string(), fc.constantFrom('INSERT', 'UPDATE')), fc.array(value))
  .map(([sql, values]) => [sql, ...values]);
const writes: fc.Arbitrary<Write[]> = fc.array(fc.array(statement));

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record(
    { changes: fc.nat(), rowId: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }) },
    { noNullPrototype: true },
  ),
  fc.record(
    {
      code: fc.constant('storage_unavailable' as const),
      message: fc.string(),
      detail: fc.string(),
      reason: fc.constantFrom('disk_full' as const, undefined),
    },
    { noNullPrototype: true },
  ),
);

test('unpacked writes equal the packed ones', () => {
  fc.assert(
    fc.property(writes, (given) => {
      expect(unpackWrites(packWrites(given))).toEqual(given);
    }),
    runs(),
  );
});

test('SQL is packed once, and then as its number', () => {
  expect(packWrites([[['INSERT', 1]], [['INSERT', 2]], [['UPDATE'], ['INSERT'], ['UPDATE']]])).toEqual([
    ...[1, 'INSERT', 1, 1],
    ...[1, 0, 1, 2],
    ...[3, 'UPDATE', 0, 0, 0, 1, 0],
  ]);
});

test('unpacked outcomes equal the packed ones', () => {
  fc.assert(
    fc.property(fc.array(outcome), (given) => {
      expect(unpackOutcomes(packOutcomes(given))).toEqual(given);
    }),
    runs(),
  );
});
