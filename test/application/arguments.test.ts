import { describe, expect, test } from 'vitest';
import {
  arrayOf,
  BOOLEAN,
  checkArgument,
  checkOptions,
  FUNCTION,
  INTERNAL,
  OBJECT,
  objectWith,
  type Rule,
  STRING,
  TIMEOUT,
} from '../../src/application/arguments.ts';

const VALUES: readonly unknown[] = [undefined, null, '', 'x', 0, true, [], ['x'], {}, () => {}];

describe('a rule', () => {
  test.each<[name: string, rule: Rule, accepted: readonly unknown[]]>([
    ['any value', INTERNAL, VALUES],
    ['a string', STRING, ['', 'x']],
    ['a boolean', BOOLEAN, [true]],
    ['a function', FUNCTION, VALUES.slice(-1)],
    ['an object', OBJECT, [{}]],
    ['an object with the method read', objectWith('read'), []],
    ['an array of strings', arrayOf('an array of strings', STRING), [[], ['x']]],
  ])('for %s accepts only such values', (expected, rule, accepted) => {
    expect(rule.expected).toBe(expected);
    expect(VALUES.filter((value) => rule.accepts(value))).toEqual(accepted);
  });

  test('for a time accepts what a timer accepts', () => {
    expect(TIMEOUT.expected).toBe('a number of milliseconds from 1 to 2147483647');
    const values = [
      1,
      1.5,
      2_147_483_647,
      0.99,
      2_147_483_647.5,
      2_147_483_648,
      Number.NaN,
      Infinity,
      '5',
      5n,
    ];
    expect(values.filter((value) => TIMEOUT.accepts(value))).toEqual([1, 1.5, 2_147_483_647]);
  });

  test('for an object with methods accepts inherited methods, and needs all of them', () => {
    const rule = objectWith('read', 'write', 'close');
    expect(rule.expected).toBe('an object with the methods read, write and close');
    const whole = { read: () => {}, write: () => {}, close: () => {} };
    expect(rule.accepts(Object.create(whole))).toBe(true);
    expect(rule.accepts({ ...whole, close: 1 })).toBe(false);
  });

  test('for an array checks every element', () => {
    expect(arrayOf('strings', STRING).accepts(['x', 1])).toBe(false);
  });
});

describe('an argument', () => {
  test.each([
    [null, 'null'],
    [undefined, 'undefined'],
    [Number.NaN, 'NaN'],
    [7, '7'],
    [7n, 'bigint'],
    ['', "''"],
    ['secret', 'string'],
    [['x'], 'an array'],
    [() => {}, 'function'],
  ])('%s that breaks its rule is described without texts of the caller', (value, described) => {
    const rule = { expected: 'an object', accepts: () => false };
    expect(() => checkArgument('pet', value, rule)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: `pet: expected an object, got ${described}`,
      }),
    );
  });

  test('that fulfils its rule is accepted', () => {
    expect(checkArgument('name', 'x', STRING)).toBeUndefined();
  });
});

describe('options', () => {
  const rules = { name: STRING, force: BOOLEAN, limit: OBJECT, thread: INTERNAL };
  const check = (options: object | null) => () => checkOptions(options as { name?: string }, rules);

  test.each([
    [null, 'options: expected an object, got null'],
    [[], 'options: expected an object, got an array'],
    [{ names: 'x' }, 'unknown option names: expected name, force or limit'],
    [Object.create({ names: 'x' }), 'unknown option names: expected name, force or limit'],
    [{ toString: 'x' }, 'unknown option toString: expected name, force or limit'],
    [{ name: 5 }, 'name: expected a string, got 5'],
    [{ limit: {}, force: 'yes' }, 'force: expected a boolean, got string'],
  ])('%j are refused', (options, message) => {
    expect(check(options)).toThrow(expect.objectContaining({ code: 'invalid_request', message }));
  });

  test.each([{}, { name: 'x', force: true, limit: {} }, { name: undefined, names: undefined }])(
    '%j are accepted',
    (options) => {
      expect(check(options)).not.toThrow();
    },
  );
});
