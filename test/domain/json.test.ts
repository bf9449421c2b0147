import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import { parseJson } from '../../src/domain/json.ts';
import { codePoint } from '../support/code-points.ts';
import { runs } from '../support/property-runs.ts';

const anyJson = fc.json({ maxDepth: 8, stringUnit: codePoint });

describe('parseJson', () => {
  test.each([
    ['5', 5n],
    ['-0', 0n],
    ['5e0', 5n],
    ['9007199254740993.0', 9007199254740993n],
    ['-9223372036854775808', INT64_MIN],
    ['92233720368547758.07e2', INT64_MAX],
  ])('%s is exact', (text, expected) => {
    expect(BigInt(parseJson(text) as number)).toBe(expected);
  });

  test.each(['1.5', '9223372036854775808', '9007199254740993.5', '1e300', '0.1e-5'])(
    '%s is not an integer',
    (text) => {
      const value = parseJson(text);
      expect(Number.isInteger(value) || typeof value === 'bigint').toBe(false);
    },
  );

  test('equals JSON.parse when no number is long', () => {
    fc.assert(
      fc.property(anyJson, (text) => {
        fc.pre(!/[\d.]{16}|\d[eE]/.test(text));
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
      runs(50),
    );
  });

  test('does not count brackets in strings as levels of nesting', () => {
    const deep = '[{'.repeat(1000);
    for (const text of [deep, `\\${deep}`, `"${deep}`, `${deep}\\"${deep}`, `\\"${deep}"`]) {
      expect(parseJson(JSON.stringify([text]))).toEqual([text]);
    }
  });

  test('does not count arrays and objects side by side as levels of nesting', () => {
    for (const part of ['[]', '{}', '[{"a":[]}]']) {
      const text = `[${Array(1000).fill(part).join()}]`;
      expect(JSON.stringify(parseJson(text))).toBe(text);
    }
  });

  test.each(['[', '{"a":'])('allows 500 levels of %s and names the limit for 501', (open) => {
    const close = open === '[' ? ']' : '}';
    const nested = (levels: number) => `${open.repeat(levels)}0${close.repeat(levels)}`;
    expect(parseJson(nested(500))).toEqual(JSON.parse(nested(500)));
    expect(() => parseJson(nested(501))).toThrow(
      new RangeError('nested too deeply: expected at most 500 levels'),
    );
  });

  test.each(['', '{', '01', 'NaN', '9007199254740993n', "{'a':1}"])('%j is not JSON', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

describe('an unknown member has the same result, however long another number is', () => {
  const SHORT = '7';
  const LONG = '9007199254740993';

  /** The known members of a body with this member, or the name of the error. */
  function outcome(member: string, categoryId: string): unknown {
    try {
      const body = parseJson(`{"name":"Rex","categoryId":${categoryId},${member}}`) as Record<
        string,
        unknown
      >;
      return { name: body['name'], status: body['status'], members: Object.keys(body).sort() };
    } catch (error) {
      return (error as Error).name;
    }
  }

  function expectSame(member: string): void {
    expect(outcome(member, LONG)).toEqual(outcome(member, SHORT));
    expect(outcome(`"y":${LONG},${member}`, SHORT)).toEqual(outcome(`"y":${SHORT},${member}`, SHORT));
  }

  test.each([
    '"[":1',
    '"x":{"__proto__":{"name":5}}',
    '"__proto__":null',
    '"__proto__":{"status":"sold"}',
    '"x":1,"x":"2"',
    '"name":5,"name":"Max"',
    '"x":1e999999999',
    '"x":-0.0000000000000000000000000001',
    `"x":${'1'.repeat(30_000)}`,
    `"x":"${'\\u0000'.repeat(600)}"`,
    `"x":"${'[{'.repeat(600)}"`,
    `"x":"${'\\"['.repeat(600)}"`,
    `"x":"${'\\\\'.repeat(600)}"`,
    `"x":[${'[],'.repeat(600)}{}]`,
    `"x":[${'{"a":[1]},'.repeat(600)}{}]`,
    '"x":[',
    '"x":]',
    '"x":"[',
  ])('member %#', (member) => {
    expectSame(member);
  });

  test('arrays and objects of any depth', () => {
    for (const depth of [1, 498, 499, 500, 501, 20_000]) {
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
        ['[{"[":', '}]'],
      ] as const) {
        expectSame(`"x":${open.repeat(depth)}1${close.repeat(depth)}`);
      }
    }
  });

  test('500 levels are accepted, 501 are not, even with a deep call stack', () => {
    const nested = (depth: number, number: string) => `${'['.repeat(depth)}${number}${']'.repeat(depth)}`;
    const fromDepth = <T>(depth: number, call: () => T): T =>
      depth === 0 ? call() : fromDepth(depth - 1, call);
    for (const number of [SHORT, LONG]) {
      expect(fromDepth(2000, () => parseJson(nested(500, number)))).toHaveLength(1);
      expect(() => parseJson(nested(501, number))).toThrow(RangeError);
      expect(() => parseJson(`${'[],'.repeat(600)}`)).toThrow(SyntaxError);
    }
  });

  test('any JSON', () => {
    fc.assert(
      fc.property(anyJson, fc.string(), (value, name) => {
        fc.pre(!['name', 'categoryId', 'x', 'y'].includes(name));
        expectSame(`${JSON.stringify(name)}:${value},"x":${value}`);
      }),
      runs(50),
    );
  });
});

test('a long text with an unterminated string is not JSON', () => {
  expect(() => parseJson(`["${'x'.repeat(600)}`)).toThrow(SyntaxError);
  expect(() => parseJson(`["${'x'.repeat(600)}\\`)).toThrow(SyntaxError);
});
