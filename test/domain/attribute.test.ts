import { describe, expect, test } from 'vitest';
import { type Attribute, type AttributeOf, ruleOf } from '../../src/domain/attribute.ts';
import { ATTRIBUTES, PET_ATTRIBUTES } from '../../src/domain/pet.ts';
import { TIMESTAMP_MAX, TIMESTAMP_MIN, type Timestamp } from '../../src/domain/timestamp.ts';

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

  test('cannot be another, and the message says what the type is', () => {
    const fault = 'birthYear must be an integer from 1900 to 2100';
    for (const given of [1899, 2101, 2101n, 2n ** 64n]) expect(rule(given)).toEqual({ fault });
    for (const given of ['2024', 2000.5, null])
      expect(rule(given).fault).toMatch(new RegExp(`^${fault}: expected .+, got `));
  });
});

const about = { isRequired: true, description: 'A.' } as const;

test('a boolean can be true or false, and nothing else', () => {
  const rule = ruleOf('lent', { ...about, kind: 'boolean', example: true });
  for (const value of [true, false]) expect(rule(value)).toEqual({ value });
  for (const given of ['true', 'false', '', 0, 1n, null])
    expect(rule(given)).toEqual({ fault: 'lent must be true or false' });
});

describe('a timestamp', () => {
  const rule = (given: unknown) =>
    ruleOf('bornAt', { ...about, kind: 'timestamp', example: TIMESTAMP_MIN })(given);

  test.each([
    ['2027-01-31T12:30:00Z', '2027-01-31T12:30:00.000Z'],
    ['2027-01-31t12:30:00.5z', '2027-01-31T12:30:00.500Z'],
    ['2027-01-31T12:30:00.12-00:00', '2027-01-31T12:30:00.120Z'],
    ['2027-01-01T00:30:00.001+05:45', '2026-12-31T18:45:00.001Z'],
    ['2024-02-29T23:59:59.999-23:59', '2024-03-01T23:58:59.999Z'],
    [TIMESTAMP_MIN, TIMESTAMP_MIN],
    [TIMESTAMP_MAX, TIMESTAMP_MAX],
    ['0001-01-01T00:00:00+00:00', TIMESTAMP_MIN],
  ])('%s is %s', (given, value) => {
    expect(rule(given)).toEqual({ value });
  });

  const days = '2023-02-29 1900-02-29 2024-02-30 2024-04-31 2024-13-01 2024-00-10 2024-01-00';
  const times = '24:00:00 12:60:00 23:59:60 12:30 12:30:00. 12:30:00,5 12:30:00.1234 12:30:00.000000';
  test.each([
    ...days.split(' ').map((day) => `${day}T00:00:00Z`),
    ...times.split(' ').map((time) => `2024-01-01T${time}Z`),
    ...['', '+0100', '+24:00', '+01:60', '+01', '\u221201:00', 'Z ', 'Z\n', 'UTC'].map(
      (end) => `2024-01-01T00:00:00${end}`,
    ),
    ...['0000-12-31T23:00:00-02:00', '0001-01-01T00:00:00+00:01', '9999-12-31T23:59:59.999-00:01'],
    ...['10000-01-01T00:00:00Z', '+002024-01-01T00:00:00Z', '2024-01-01 00:00:00Z', '2024-01-01', '', 'now'],
    ...[0, 1_700_000_000_000n, true, null, new Date(0), [TIMESTAMP_MIN]],
  ])('cannot be %s', (given) => {
    expect(rule(given)).toEqual({
      fault: expect.stringMatching(/^bornAt must be a time in the format of RFC 3339 such as /),
    });
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
  const text = { ...about, kind: 'text', minLength: 1, maxLength: 9, example: 'done' } as const;
  const status = { ...about, kind: 'one of', example: 'done' } as const;
  const time = { ...about, kind: 'timestamp', example: '2024-02-29T12:00:00.000Z' } as const;
  const lent = { ...about, kind: 'boolean', example: true } as const;
  type Year = AttributeOf<number | undefined, number | bigint | undefined>;
  type Values = 'open' | 'done';
  type Status = AttributeOf<Values, Values | undefined>;
  const rows = [
    { ...about, ...years, isRequired: false } satisfies Year,
    { ...weight, isRequired: true } satisfies AttributeOf<bigint, bigint | number>,
    { ...weight, isRequired: false, default: 1n } satisfies AttributeOf<bigint, bigint | undefined>,
    { ...status, values: ['done'], isRequired: false, default: 'done' } satisfies Status,
    { ...text, isRequired: true } satisfies AttributeOf<string, string>,
    { ...time, isRequired: true } satisfies AttributeOf<Timestamp, string>,
    { ...time, isRequired: false } satisfies AttributeOf<Timestamp | undefined, string | undefined>,
    { ...lent, isRequired: false, default: false } satisfies AttributeOf<boolean, boolean | undefined>,
    // @ts-expect-error The value is a time.
    { ...text, isRequired: true } satisfies AttributeOf<Timestamp, string>,
    // @ts-expect-error The value is any text.
    { ...time, isRequired: true } satisfies AttributeOf<string, string>,
    // @ts-expect-error The example is not canonical.
    { ...time, isRequired: true, example: '2024-02-29' } satisfies AttributeOf<Timestamp, string>,
    // @ts-expect-error The value is one of a few.
    { ...lent, isRequired: true } satisfies AttributeOf<Values, Values>,
    // @ts-expect-error The value is a bigint.
    { ...about, ...years, isRequired: true } satisfies AttributeOf<bigint, bigint | number>,
    // @ts-expect-error The value is a number.
    { ...weight, isRequired: true } satisfies AttributeOf<number, number>,
    // @ts-expect-error The value is any text.
    { ...status, values: ['done'], isRequired: true } satisfies AttributeOf<string, string>,
    // @ts-expect-error The value is one of a few.
    { ...text, isRequired: false, default: 'done' } satisfies Status,
    // @ts-expect-error The type has no such value.
    { ...status, values: ['lost'], isRequired: false, default: 'done' } satisfies Status,
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
