import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  INT64_MAX,
  INT64_MIN,
  int64Fault,
  isInt64,
  parseInt64,
  parseJsonInt64,
  toInt64,
} from '../../src/domain/int64.ts';
import { runs } from '../support/property-runs.ts';

const around = fc.bigInt({ min: 4n * INT64_MIN, max: 4n * INT64_MAX });

describe('toInt64', () => {
  test('accepts every int64 as a bigint, every safe integer, and nothing else', () => {
    fc.assert(
      fc.property(around, fc.oneof(fc.maxSafeInteger(), fc.double()), (bigint, value) => {
        expect(toInt64(bigint)).toBe(isInt64(bigint) ? bigint : undefined);
        expect(toInt64(value)).toBe(Number.isSafeInteger(value) ? BigInt(value) : undefined);
      }),
      runs(),
    );
  });

  test.each([2 ** 53, 1.5, Number.NaN, '1', true, null, undefined, [1], Object(1n)])(
    'refuses %o',
    (value) => {
      expect(toInt64(value)).toBeUndefined();
      expect(isInt64(value)).toBe(false);
    },
  );
});

describe('int64Fault', () => {
  const RANGE = 'id must be an integer from 1 to 9223372036854775807';

  test.each([0n, INT64_MAX + 1n, -1])('names the range for %s', (value) => {
    expect(int64Fault('id', value, 1n)).toBe(RANGE);
  });

  test.each([
    ['7\n', '"7\\n"'],
    ['x'.repeat(30), `"${'x'.repeat(30)}"`],
    ['x'.repeat(31), 'a value of type string'],
    [null, 'null'],
    [[1], 'a value of type object'],
    [Symbol('x'), 'a value of type symbol'],
  ])('names the accepted types for %o', (value, got) => {
    expect(int64Fault('id', value, 1n)).toBe(
      `${RANGE}: expected a bigint such as 7n, or a safe integer, got ${got}`,
    );
  });
});

describe('parseInt64', () => {
  test('reads every int64 in plain decimal notation, and nothing beyond the range', () => {
    fc.assert(
      fc.property(around, (value) => parseInt64(String(value)) === (isInt64(value) ? value : undefined)),
      runs(),
    );
  });

  test.each(['', '1 ', ' 1', '1\n', '+1', '-0', '00', '-01', '1.0', '1e0', '１'])('refuses %j', (text) => {
    expect(parseInt64(text)).toBeUndefined();
  });
});

describe('parseJsonInt64', () => {
  test.each([
    ['0.5e1', 5n],
    ['500e-2', 5n],
    ['0.0000000000000000000000005e25', 5n],
    ['-0', 0n],
    ['0e99999999999999999999', 0n],
    ['-9223372036854775808', INT64_MIN],
    ['9.223372036854775807E+18', INT64_MAX],
    ['9223372036854775808', undefined],
    ['1e-1', undefined],
    ['1e99999999999999999999', undefined],
  ])('%s is %s', (source, value) => {
    expect(parseJsonInt64(source)).toBe(value);
  });

  test.each(['', ' 1', '+1', '-01', '.5', '5.', '1e', '1e+', '-', 'NaN', '１'])(
    '%j is not a JSON number',
    (source) => {
      expect(parseJsonInt64(source)).toBeUndefined();
    },
  );

  test('a literal of any length is read in linear time', () => {
    const zeros = '0'.repeat(500_000);
    expect(parseJsonInt64(`1${zeros}1`)).toBeUndefined();
    expect(parseJsonInt64(`1.${zeros}1`)).toBeUndefined();
    expect(parseJsonInt64(`7.${zeros}`)).toBe(7n);
    expect(parseJsonInt64(`7${zeros}e-500000`)).toBe(7n);
  });
});
