import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import { parseJson, petJson, petsJson } from '../../src/domain/json.ts';
import type { Pet } from '../../src/domain/pet.ts';

const REX: Pet = { id: INT64_MAX, name: 'é "🐈" \\\n', categoryId: INT64_MIN, status: 'sold' };

describe('JSON that comes in', () => {
  test.each([
    ['5', 5n],
    ['-0', 0n],
    ['5.0', 5n],
    ['5e0', 5n],
    ['9007199254740993', 9007199254740993n],
    ['9007199254740993.0', 9007199254740993n],
    ['9223372036854775807', INT64_MAX],
    ['-9223372036854775808', INT64_MIN],
    ['92233720368547758.07e2', INT64_MAX],
  ])('%s is exact', (text, expected) => {
    expect(BigInt(parseJson(text) as number)).toBe(expected);
  });

  test.each(['1.5', '9223372036854775808', '9007199254740993.5', '1e300', '0.1e-5'])(
    '%s is no integer',
    (text) => {
      const value = parseJson(text);
      expect(Number.isInteger(value) || typeof value === 'bigint').toBe(false);
    },
  );

  test('is what JSON.parse makes of it, where no number is long', () => {
    fc.assert(
      fc.property(fc.json({ noUnicodeString: false }), (text) => {
        fc.pre(!/[\d.]{16}|\d[eE]/.test(text));
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  test.each(['', '{', '01', 'NaN', '9007199254740993n', "{'a':1}"])('%j is none', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

describe('JSON that goes out', () => {
  test('is exact, in one order, without a space', () => {
    expect(petJson(REX)).toBe(
      '{"id":9223372036854775807,"name":"é \\"🐈\\" \\\\\\n","categoryId":-9223372036854775808,"status":"sold"}',
    );
    expect(petsJson([])).toBe('[]');
    expect(petsJson([REX, REX])).toBe(`[${petJson(REX)},${petJson(REX)}]`);
  });

  test('comes in as the same', () => {
    expect(parseJson(petJson(REX))).toEqual(REX);
  });
});
