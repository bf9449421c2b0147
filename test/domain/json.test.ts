import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import { parseJson, readMembers } from '../../src/domain/json.ts';
import { runs } from '../support/property-runs.ts';
import { refusal } from '../support/refusal.ts';

// `PROPERTY_RUNS` can make each test long.
vi.setConfig({ testTimeout: 600_000 });

afterEach(() => void vi.restoreAllMocks());

const NAMES = ['name', 'x'] as const;
const membersOf = (value: unknown) => readMembers(value, NAMES);
const read = (text: string) => membersOf(parseJson(text));

describe('members', () => {
  test.each([
    ['5 5.0 5e0 50e-1', 5n],
    ['-0 0 0e99 -0.0', 0n],
    ['999999999999999 999999999999999.0', 999999999999999n],
    ['9007199254740993 9007199254740993.0', 9007199254740993n],
    ['-9223372036854775808', INT64_MIN],
    ['92233720368547758.07e2', INT64_MAX],
    ['1.5 9223372036854775808 9007199254740993.5 1e300 1e400 0.1e-5', Number.NaN],
    ['100000000000000.001 9007199254740990.6 1e-400 1E-400', Number.NaN],
  ])('the value of %s is %s', (texts, value) => {
    for (const text of texts.split(' ')) expect(read(`{"x":${text}}`)).toEqual({ x: value });
  });

  test('are exact whatever a number looks like', () => {
    const digits = (maxLength: number) =>
      fc.array(fc.constantFrom(...'0001999'), { minLength: 1, maxLength }).map((each) => each.join(''));
    const number = fc
      .tuple(
        fc.constantFrom('', '-'),
        digits(20),
        fc.option(digits(18)),
        fc.option(fc.integer({ min: -25, max: 25 })),
      )
      .map(([sign, whole, fraction, exponent]) => {
        const end = exponent === null ? '' : `e${exponent}`;
        return `${sign}${whole.replace(/^0+(?=\d)/, '')}${fraction === null ? '' : `.${fraction}`}${end}`;
      });
    fc.assert(
      fc.property(fc.array(number, { minLength: 1, maxLength: 3 }), (sources) => {
        const text = `{${sources.map((source) => `"x":${source}`).join()}}`;
        expect(read(text), text).toEqual({ x: exactly(sources.at(-1) as string) ?? Number.NaN });
      }),
      runs(2000),
    );
  });

  test.each([
    [' \t\r\n{ "name" : "Rex" , "other" : 1 } ', { name: 'Rex' }],
    ['{"x":true,"name":null}', { x: true, name: null }],
    ['{"n\\u0061m\\u0065":"R\\"\\u0065\\/x","\\u0058":1}', { name: 'R"e/x' }],
    ['{"name":1,"na\\u006De":1.5,"name":"last 2.0"}', { name: 'last 2.0' }],
    ['{"y":{"name":1},"z":[{"x":2}],"__proto__":{"x":3},"Name":3}', {}],
    ['["name",{"x":1}]', undefined],
    ['null', undefined],
  ])('of %s', (text, members) => {
    expect(read(text)).toEqual(members);
  });

  test('are never what every object inherits', () => {
    expect(readMembers(parseJson('{}'), ['toString'])).toEqual({});
  });
});

test.each(['', 'secret', '{"a":01}', '{"a":1.5]'])(
  '%j is not JSON, and the message has no part of it',
  (text) => {
    expect(() => parseJson(text)).toThrow(refusal('invalid JSON'));
    expect(() => parseJson(text)).toThrow(expect.not.objectContaining({ cause: expect.anything() }));
  },
);

test.each([
  ['[', ']'],
  ['{"":', '}'],
  ['[{"":', '}]'],
  ['[[],{"":{}},', ']'],
])('the depth of %s…%s is limited, whatever else is in the text', (start, end) => {
  for (const name of ['Rex', 'v1.5', '1234567890123456']) {
    const nested = (count: number) => `{"name":"${name}","y":${start.repeat(count)}1${end.repeat(count)}}`;
    expect(read(nested(500))).toEqual({ name });
    expect(() => read(nested(100_000))).toThrow(refusal('invalid JSON: it is nested too deeply'));
  }
});

test('an engine whose reviver gets no source text refuses what it would round, and reads the rest', () => {
  const { parse } = JSON;
  vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) =>
    parse(text, reviver && ((key, value) => reviver.call(undefined, key, value))),
  );
  expect(read('{"x":999999999999999,"name":"Rex"}')).toEqual({ x: 999999999999999n, name: 'Rex' });
  expect(read('{"name":"2.0"}')).toEqual({ name: '2.0' });
  for (const number of ['9007199254740993', '9007199254740990.6', '4.0'])
    expect(() => read(`{"x":${number}}`)).toThrow(
      refusal(
        'this JavaScript engine cannot read fractions and long numbers in JSON exactly',
        'internal_error',
      ),
    );
});

/** The value of a JSON number, computed with bigint. */
function exactly(source: string): bigint | undefined {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e');
  const [integer = '', fraction = ''] = mantissa.split('.');
  const power = Number(exponent) - fraction.length;
  const unscaled = BigInt((integer + fraction).replace('-', '')) * (source.startsWith('-') ? -1n : 1n);
  const scale = 10n ** BigInt(Math.abs(power));
  if (power < 0 && unscaled % scale !== 0n) return undefined;
  const value = power < 0 ? unscaled / scale : unscaled * scale;
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}
