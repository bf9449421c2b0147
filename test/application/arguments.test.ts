import { describe, expect, test } from 'vitest';
import {
  arrayOf,
  BOOLEAN,
  checkArgument,
  checkOptions,
  FUNCTION,
  OBJECT,
  objectOf,
  objectWith,
  optionsOf,
  type Rule,
  STRING,
  TIMEOUT,
} from '../../src/application/arguments.ts';
import { refusal } from '../support/refusal.ts';

const VALUES: readonly unknown[] = [undefined, null, '', 'x', 0, true, [], ['x'], ['x', 1], {}, () => {}];

describe('a rule', () => {
  test.each<[name: string, rule: Rule, accepted: readonly unknown[]]>([
    ['a string', STRING, ['', 'x']],
    ['a boolean', BOOLEAN, [true]],
    ['a function', FUNCTION, VALUES.slice(-1)],
    ['an object', OBJECT, [{}]],
    ['an object with the method read', objectWith('read'), []],
    ['an array of strings', arrayOf('an array of strings', STRING), [[], ['x'], ['x', 1]]],
  ])('for %s accepts only such values', (expected, rule, accepted) => {
    expect(rule.expected).toBe(expected);
    expect(VALUES.filter((value) => rule.accepts(value))).toEqual(accepted);
  });

  test('for a time accepts what a timer accepts', () => {
    const values = [1, 1.5, 2_147_483_647, 0.99, 2_147_483_647.5, Number.NaN, Infinity, '5', 5n];
    expect(values.filter((value) => TIMEOUT.accepts(value))).toEqual([1, 1.5, 2_147_483_647]);
  });

  test('for an object with methods accepts inherited methods, and needs all of them', () => {
    expect(objectWith('read').expected).toBe('an object with the method read');
    expect(objectWith('read', 'write').expected).toBe('an object with the methods read and write');
    const rule = objectWith('read', 'write', 'close');
    expect(rule.expected).toBe('an object with the methods read, write and close');
    const whole = { read: () => {}, write: () => {}, close: () => {} };
    expect(rule.accepts(Object.create(whole))).toBe(true);
    expect(rule.accepts({ ...whole, close: 1 })).toBe(false);
  });
});

test.each([
  [null, 'null'],
  [undefined, 'undefined'],
  [Number.NaN, 'NaN'],
  [7n, 'bigint'],
  ['', "''"],
  ['secret', 'string'],
  [['x'], 'an array'],
])('the argument %s that breaks its rule is described without texts of the caller', (value, described) => {
  const rule = { expected: 'an object', accepts: () => false };
  expect(() => checkArgument('input', value, rule)).toThrow(
    refusal(`input: expected an object, got ${described}`),
  );
});

describe('members', () => {
  const rules = { onRequest: FUNCTION, name: STRING };
  const OBSERVER = objectOf(OBJECT, rules);
  const known = 'expected onRequest or name';
  class Host {
    readonly count = 0;
    own = () => {};
    onRequest(): void {}
    helper(): void {}
  }

  test.each<[rule: Rule, value: unknown, message: string]>([
    [arrayOf('texts', STRING), ['a', 7], 'it[1]: expected a string, got 7'],
    [arrayOf('objects', optionsOf(rules)), [{}, { nam: 'x' }], `unknown option it[1].nam: ${known}`],
    [optionsOf(rules), { name: 7 }, 'it.name: expected a string, got 7'],
    [optionsOf(rules, objectWith('read')), {}, 'it: expected an object with the method read, got object'],
    [OBSERVER, 'x', 'it: expected an object, got string'],
    [OBSERVER, { name: 7 }, 'it.name: expected a string, got 7'],
    [OBSERVER, { onrequest() {} }, `unknown option it.onrequest: ${known}`],
    [OBSERVER, { onError() {} }, `unknown option it.onError: ${known}`],
    [OBSERVER, Object.assign(Object.create(null), { onError() {} }), `unknown option it.onError: ${known}`],
    [OBSERVER, { __proto__: { name: 7 } }, 'it.name: expected a string, got 7'],
    [objectOf(objectWith('read'), {}), {}, 'it: expected an object with the method read, got object'],
    [objectWith('read', 'write'), {}, 'it: expected an object with the methods read and write, got object'],
  ])('are refused: %#', (rule, value, message) => {
    expect(() => checkArgument('it', value, rule)).toThrow(refusal(message));
  });

  test.each<[rule: Rule, value: unknown]>([
    [arrayOf('texts', STRING), ['a']],
    [OBSERVER, { name: undefined, count: 0 }],
    [OBSERVER, Object.create(null)],
    [OBSERVER, new Host()],
  ])('are accepted: %#', (rule, value) => {
    expect(() => checkArgument('it', value, rule)).not.toThrow();
  });
});

describe('options', () => {
  const rules = { name: STRING, force: BOOLEAN, limit: OBJECT };
  const check = (options: object | null) => () => checkOptions(options as { name?: string }, rules);

  test.each([
    [null, 'options: expected an object, got null'],
    [Object.create({ names: 'x' }), 'unknown option names: expected name, force or limit'],
    [{ toString: 'x' }, 'unknown option toString: expected name, force or limit'],
    [{ limit: {}, force: 'yes' }, 'force: expected a boolean, got string'],
  ])('%j are refused', (options, message) => {
    expect(check(options)).toThrow(refusal(message));
  });

  test.each([{}, { name: 'x', force: true, limit: {} }, { name: undefined, names: undefined }])(
    '%j are accepted',
    (options) => {
      expect(check(options)).not.toThrow();
    },
  );
});
