import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import { itemTexts, memberReader, scanJson } from '../../src/domain/json.ts';
import { codePoint } from '../support/code-points.ts';
import { runs } from '../support/property-runs.ts';

// `PROPERTY_RUNS` can make each test long.
vi.setConfig({ testTimeout: 600_000 });

const NAMES = ['name', 'x'] as const;
const read = memberReader(NAMES);
const scan = (text: string) => scanJson(text, () => {});
const anyJson = fc.json({ maxDepth: 8, stringUnit: codePoint });

describe('members', () => {
  test.each([
    ['5 5.0 5e0 50e-1', 5n],
    ['-0 0 0e99', 0n],
    ['9007199254740993 9007199254740993.0', 9007199254740993n],
    ['-9223372036854775808', INT64_MIN],
    ['92233720368547758.07e2', INT64_MAX],
    ['1.5 9223372036854775808 9007199254740993.5 1e300 1e400 0.1e-5', Number.NaN],
  ])('the value of %s is %s', (texts, value) => {
    for (const text of texts.split(' ')) expect(read(`{"x":${text}}`)).toEqual({ x: value });
  });

  test.each([
    ['{}', {}],
    [' \t\r\n{ "name" : "Rex" , "other" : 1 } ', { name: 'Rex' }],
    ['{"x":true,"name":null}', { x: true, name: null }],
    ['{"name":"\\u0052\\"e\\\\\\/x"}', { name: 'R"e\\/x' }],
    ['{"n\\u0061m\\u0065":"Rex","\\u0078":false,"\\u0058":1}', { name: 'Rex', x: false }],
    ['{"name":1,"na\\u006De":2,"name":"last"}', { name: 'last' }],
    ['{"names":1,"ame":2,"Name":3,"name ":4,"\\\\u0078":5}', {}],
    ['{"y":{"name":1},"z":[{"x":2}],"__proto__":{"x":3},"name":{"x":4}}', { name: {} }],
    ['["name",{"x":1}]', undefined],
    ['"name"', undefined],
    ['7', undefined],
  ])('of %s', (text, members) => {
    expect(read(text)).toEqual(members);
  });

  /** Not those of `JSON.parse`: that of Node.js 26 takes other names for some with escape sequences. */
  test('are the last ones with their names, however these are written', () => {
    const letter = fc.constantFrom(...'namex', '"', '\\', 'é');
    const anyName = fc.array(letter, { maxLength: 4 }).map((letters) => letters.join(''));
    const name = fc.oneof(fc.constantFrom(...NAMES), anyName);
    const value = fc.oneof(
      fc.constantFrom('true', 'null', '{"x":1}', '[]'),
      fc.string().map((text) => JSON.stringify(text)),
    );
    const members = fc.array(fc.tuple(name, fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), value));
    fc.assert(
      fc.property(members, (list) => {
        const texts = list.map(([each, escapes, given]) => `"${spelled(each, escapes)}" : ${given}`);
        const known = list.filter(([each]) => each === 'name' || each === 'x');
        const expected = Object.fromEntries(known.map(([each, , given]) => [each, JSON.parse(given)]));
        for (const [each, given] of Object.entries(expected))
          if (typeof given === 'object' && given) expected[each] = {};
        expect(read(`{${texts.join(' ,')}}`)).toEqual(expected);
      }),
      runs(500),
    );
  });

  function spelled(name: string, escapes: readonly boolean[]): string {
    const letters = [...name].map((letter, index) => {
      if (letter === '"' || letter === '\\') return `\\${letter}`;
      return escapes[index] ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter;
    });
    return letters.join('');
  }
});

test('the items of an array are its texts', () => {
  expect(itemTexts(' [ 1.0 , {"a":[2]} , "]" ] ')).toEqual(['1.0', '{"a":[2]}', '"]"']);
  expect(itemTexts('[]')).toEqual([]);
  expect([itemTexts('{"a":1}'), itemTexts('1')]).toEqual([undefined, undefined]);
});

describe('a text that is not JSON', () => {
  test.each([
    ['', 'unexpected end'],
    [' [1, ', 'unexpected end'],
    ['{"a":{"b":[]}', 'unexpected end'],
    ['{"a"', 'unexpected end'],
    ['secret', 'unexpected text at character 1'],
    ['{"a":01}', 'unexpected text at character 6'],
    ['{"a":1,}', 'unexpected text at character 8'],
    ['{"a"1\n}', 'unexpected text at character 5'],
    ['{1:1}', 'unexpected text at character 2'],
    ['{"a":1]', 'unexpected text at character 7'],
    ['[1 2]', 'unexpected text at character 4'],
    ['["a":1]', 'unexpected text at character 5'],
    ['[]]', 'unexpected text at character 3'],
    ['["\t"]', 'unexpected text at character 2'],
    ['["\\x0041"]', 'unexpected text at character 2'],
    ['["\\u12g4"]', 'unexpected text at character 2'],
    ['"open', 'unexpected text at character 1'],
    ['"\\', 'unexpected text at character 1'],
    ['{\r\n"a": TRUE}', 'unexpected text at line 2, character 6'],
    ['nulls', 'unexpected text at character 1'],
    ['-', 'unexpected text at character 1'],
    ['1e', 'unexpected text at character 1'],
    ['9007199254740993n', 'unexpected text at character 1'],
    ['\u00a01', 'unexpected text at character 1'],
  ])('%j: %s', (text, fault) => {
    expect(() => scan(text)).toThrow(new SyntaxError(fault));
  });

  test('is one that JSON.parse refuses', () => {
    const pieces = [...'{}[]:,"0-e.\\ \n', ...String.raw`1.5 1E+2 true null nul "a" \u00e9`.split(' ')];
    const piece = fc.constantFrom(...pieces);
    const joined = fc.array(piece, { maxLength: 12 }).map((list) => list.join(''));
    const cut = fc.tuple(fc.json(), fc.nat(30), fc.nat(3), piece);
    const changed = cut.map(([text, at, count, other]) => text.slice(0, at) + other + text.slice(at + count));
    fc.assert(
      fc.property(fc.oneof(anyJson, joined, changed), (text) => {
        expect(
          outcome(() => scan(text)),
          text,
        ).toBe(outcome(() => JSON.parse(text)));
      }),
      runs(3000),
    );
  });
});

test.each([
  ['[', ']'],
  ['{"a":', '}'],
])('500 levels of %s are allowed, 501 are not', (open, close) => {
  const nested = (depth: number) => `${open.repeat(depth)}0${close.repeat(depth)}`;
  expect(scan(nested(500))).toBe(open.charAt(0));
  for (const text of [nested(501), open.repeat(30_000)]) {
    expect(() => scan(text)).toThrow(new RangeError('nested too deeply: expected at most 500 levels'));
  }
});

test('brackets in strings, and arrays and objects side by side, are no levels', () => {
  for (const text of ['[{'.repeat(1000), `\\${'[{'.repeat(1000)}"`, '\\"[']) {
    expect(read(JSON.stringify({ x: text }))).toEqual({ x: text });
  }
  for (const part of ['[]', '{}', '[{"a":[]}]']) expect(scan(`[${Array(1000).fill(part).join()}]`)).toBe('[');
});

function outcome(call: () => unknown): boolean {
  try {
    call();
    return true;
  } catch {
    return false;
  }
}
