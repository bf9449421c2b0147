import { describe, expect, test } from 'vitest';
import { type Attribute, type AttributeOf, ruleOf } from '../../src/domain/attribute.ts';
import { ATTRIBUTES, PET_ATTRIBUTES, type PetStatus } from '../../src/domain/pet.ts';

/** An attribute that may be missing, whatever attributes a pet has. */
const birthYear = {
  kind: 'integer',
  min: 1900,
  max: 2100,
  isRequired: false,
  description: '',
  example: 2024,
} as const;

describe('an integer', () => {
  const rule = (value: unknown) => ruleOf('birthYear', birthYear)(value);

  test.each([1900, 2100, 2024n])('can be %s, and becomes a number', (given) => {
    expect(rule(given)).toEqual({ value: Number(given) });
  });

  test.each([1899, 2101, 2101n, 2n ** 64n])('cannot be %s', (given) => {
    expect(rule(given)).toEqual({ fault: 'birthYear must be an integer from 1900 to 2100' });
  });

  test.each(['2024', 2000.5, null])('cannot be %j, and the message says why', (given) => {
    expect(rule(given).fault).toMatch(/^birthYear must be an integer from 1900 to 2100: expected .+, got /);
  });
});

test('a value that is not given is the default, missing, or a fault', () => {
  expect(ruleOf('birthYear', birthYear)(undefined)).toEqual({ value: undefined });
  expect(ruleOf('birthYear', { ...birthYear, default: 2000 })(undefined)).toEqual({ value: 2000 });
  expect(ruleOf('birthYear', { ...birthYear, isRequired: true })(undefined)).toEqual({
    fault: 'birthYear is required',
  });
});

test.each(PET_ATTRIBUTES)('what is said about %s is complete', (name) => {
  const attribute: Attribute = ATTRIBUTES[name];
  expect(attribute.description).toMatch(/^[A-Z].+\.$/);
  expect(ruleOf(name, attribute)(attribute.example)).toEqual({ value: attribute.example });
  if (attribute.default !== undefined) {
    expect(attribute.isRequired).toBe(false);
    expect(ruleOf(name, attribute)(attribute.default)).toEqual({ value: attribute.default });
  }
});

/** The compiler refuses each row that contradicts the types of its attribute: see `npm run check`. */
test('a row has the kind, the values and the default of its types', () => {
  const [about, limits] = [{ description: 'A.' }, { min: 1n, max: 9n }] as const;
  const years = { kind: 'integer', min: 1900, max: 2100, example: 2024 } as const;
  const weight = { ...about, ...limits, kind: 'int64', example: 1n } as const;
  const text = { ...about, kind: 'text', minLength: 1, maxLength: 9, example: 'sold' } as const;
  const status = { ...about, kind: 'one of', example: 'sold' } as const;
  type Year = AttributeOf<number | undefined, number | bigint | undefined>;
  type Status = AttributeOf<PetStatus, PetStatus | undefined>;
  const rows = [
    { ...about, ...years, isRequired: false } satisfies Year,
    { ...weight, isRequired: true } satisfies AttributeOf<bigint, bigint | number>,
    { ...weight, isRequired: false, default: 1n } satisfies AttributeOf<bigint, bigint | undefined>,
    { ...status, values: ['sold'], isRequired: false, default: 'sold' } satisfies Status,
    { ...text, isRequired: true } satisfies AttributeOf<string, string>,
    // @ts-expect-error The value is a bigint.
    { ...about, ...years, isRequired: true } satisfies AttributeOf<bigint, bigint | number>,
    // @ts-expect-error The value is a number.
    { ...weight, isRequired: true } satisfies AttributeOf<number, number>,
    // @ts-expect-error The value is any text.
    { ...status, values: ['sold'], isRequired: true } satisfies AttributeOf<string, string>,
    // @ts-expect-error The value is one of a few.
    { ...text, isRequired: false, default: 'sold' } satisfies Status,
    // @ts-expect-error The type has no such value.
    { ...status, values: ['lost'], isRequired: false, default: 'sold' } satisfies Status,
    // @ts-expect-error The input may lack it.
    { ...about, ...years, isRequired: true } satisfies Year,
    // @ts-expect-error The input may not lack it.
    { ...weight, isRequired: false } satisfies AttributeOf<bigint, bigint | number>,
    // @ts-expect-error The input may lack it, and a pet may not.
    { ...weight, isRequired: false } satisfies AttributeOf<bigint, bigint | undefined>,
    // @ts-expect-error A pet may lack it, so there is no default.
    { ...about, ...years, isRequired: false, default: 2000 } satisfies Year,
    // @ts-expect-error The example has another type.
    { ...weight, isRequired: true, example: 1 } satisfies AttributeOf<bigint, bigint | number>,
  ];
  for (const row of rows) expect(row.description).toBe('A.');
});
