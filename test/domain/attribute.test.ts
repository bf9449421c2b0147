import { describe, expect, test } from 'vitest';
import { type Attribute, ruleOf } from '../../src/domain/attribute.ts';
import { ATTRIBUTES, PET_ATTRIBUTES } from '../../src/domain/pet.ts';

/** An attribute that can be missing, of a kind that no attribute of a pet needs to have. */
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
