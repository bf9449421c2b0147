import { expect, test } from 'vitest';
import { unmatchedPath } from '../../../src/adapters/http/api/unmatched-path.ts';
import { formatApiKey } from '../../../src/domain/api-key.ts';

const KEY = formatApiKey(crypto.getRandomValues(new Uint8Array(32)));

function pathOf(url: string | undefined, authorization?: string): string | undefined {
  return unmatchedPath({ url, httpVersion: '1.1', headers: { authorization }, rawHeaders: [] });
}

test.each([
  ['/wrong', '/wrong'],
  ['/wrong?api_key=secret', '/wrong'],
  ['/wrong#secret', '/wrong'],
  ['/%1b[31m%00', '/%1b[31m%00'],
  ['/a\u0085\u00ff\u007f\u001b\u2028', '/a\\u0085\\u00ff\\u007f\\u001b\\u2028'],
  ['http://me:secret@example.org/wrong?x', '/wrong'],
  ['http://me:secret@example.org', '/'],
  ['http://me:secret@example.org?secret', '/'],
  ['*', undefined],
  ['me:secret@example.org', undefined],
  [undefined, '/'],
  [`/${'x'.repeat(199)}`, `/${'x'.repeat(199)}`],
  [`/${'x'.repeat(200)}`, `/${'x'.repeat(199)}…`],
  [`/${'x'.repeat(16_000)}`, `/${'x'.repeat(199)}…`],
])('the path of the target %s is %s', (target, expected) => {
  expect(pathOf(target)).toBe(expected);
});

test('a path contains no API key, whole or cut, wherever it stands', () => {
  for (const length of [0, 1, 150, 180, 185, 194, 195, 198, 199, 200, 290]) {
    for (const key of [KEY, KEY.slice(0, 30), KEY.replace('_', '%5F')]) {
      const path = pathOf(`/${'x/'.repeat(length).slice(0, length)}${key}/y`);
      expect(path).toMatch(/^\/x?/);
      expect(path?.length).toBeLessThanOrEqual(201);
      expect(path).not.toContain(KEY.slice(10, 18));
    }
  }
});

test('a path does not contain the key that the client sent in Authorization, whatever its format', () => {
  const key = 'operator-key-of-32-characters-or-more';
  expect(pathOf(`/v1/${key}/pets/${key}`, `Bearer ${key}`)).toBe('/v1/…/pets/…');
  expect(pathOf(`/${'x'.repeat(180)}${key}`, key)).toBe(`/${'x'.repeat(180)}…`);
  expect(pathOf('/v1/pets', 'Bearer pets')).toBe('/v1/pets');
});
