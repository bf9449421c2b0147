import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { parseJson } from '../../src/domain/json.ts';
import { jsonFault } from '../../src/domain/json-fault.ts';
import { runs } from '../support/property-runs.ts';

// `PROPERTY_RUNS` can make each test long.
vi.setConfig({ testTimeout: 600_000 });

test.each([
  ['', 'unexpected end'],
  [' [1, ', 'unexpected end'],
  ['{"a":{"b":[]}', 'unexpected end'],
  ['secret', 'unexpected text at character 1'],
  ['{"a":01}', 'unexpected text at character 6'],
  ['{"a":1,}', 'unexpected text at character 8'],
  ['{"a" 1}', 'unexpected text at character 6'],
  ['{1:1}', 'unexpected text at character 2'],
  ['{"a":1]', 'unexpected text at character 7'],
  ['[1 2]', 'unexpected text at character 4'],
  ['["a":1]', 'unexpected text at character 5'],
  ['[]]', 'unexpected text at character 3'],
  ['["\t"]', 'unexpected text at character 2'],
  ['["\\x"]', 'unexpected text at character 2'],
  ['"open', 'unexpected text at character 1'],
  ['{\r\n"a": TRUE}', 'unexpected text at line 2, character 6'],
  ['1e', 'unexpected text at character 1'],
  ['\u00a01', 'unexpected text at character 1'],
])('%j: %s', (text, fault) => {
  expect(jsonFault(text)).toBe(fault);
  expect(() => parseJson(text)).toThrow(new SyntaxError(fault));
});

test('a text has a fault if and only if JSON.parse refuses it', () => {
  const piece = fc.constantFrom(
    ...'{}[]:,"0',
    '-',
    '1.5',
    '1E+2',
    'e',
    '.',
    'true',
    'null',
    'nul',
    '"a"',
    ' ',
    '\n',
    '\\u00e9',
    '\\',
  );
  const pieces = fc.array(piece, { maxLength: 12 }).map((list) => list.join(''));
  const cut = fc.tuple(fc.json(), fc.nat(30), fc.nat(3), piece);
  const changed = cut.map(([text, at, count, other]) => text.slice(0, at) + other + text.slice(at + count));
  fc.assert(
    fc.property(fc.oneof(fc.json(), pieces, changed), (text) => {
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      expect(jsonFault(text) === undefined, text).toBe(isJson);
    }),
    runs(3000),
  );
});
