import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Outcome, Statement, Unit, Value } from '../../src/adapters/sqlite/batch.ts';
import { packOutcomes, packUnits, unpackOutcomes, unpackUnits } from '../../src/adapters/sqlite/message.ts';

const value: fc.Arbitrary<Value> = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.uint8Array(),
  fc.constant(null),
);
const statement: fc.Arbitrary<Statement> = fc
  .tuple(fc.string(), fc.array(value))
  .map(([sql, values]) => [sql, ...values]);
const units: fc.Arbitrary<Unit[]> = fc.array(fc.array(statement));

const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record(
    { changes: fc.nat(), rowId: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }) },
    { noNullPrototype: true },
  ),
  fc.record(
    { code: fc.constant('storage_unavailable' as const), message: fc.string(), detail: fc.string() },
    { noNullPrototype: true },
  ),
);

test('units come out of a message as they went in', () => {
  fc.assert(
    fc.property(units, (given) => {
      expect(unpackUnits(packUnits(given))).toEqual(given);
    }),
  );
});

test('outcomes come out of a message as they went in', () => {
  fc.assert(
    fc.property(fc.array(outcome), (given) => {
      expect(unpackOutcomes(packOutcomes(given))).toEqual(given);
    }),
  );
});
