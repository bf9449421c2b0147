/** Each test and source file that the manuals name exists. */

import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { logTo } from '../../src/adapters/log/log.ts';
import { logObserver } from '../../src/adapters/log/observer.ts';
import { OUTCOME } from '../support/outcome.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The folders from which the manuals name files. */
const BASES = ['.', 'test/faults', 'test/faults/messages'];

/** The paths in a text, which are code spans such as `test/e2e/serve.test.ts` and `soak/attacks/`. */
function pathsIn(text: string): string[] {
  const spans = [...text.matchAll(/`([^`\s]+)`/g)].map(([, span = '']) => span);
  return [...new Set(spans.filter((span) => /^(test|src)\/|\.(ts|c)$|^[\w/]+\/$/.test(span)))];
}

function missingIn(text: string): string[] {
  return pathsIn(text).filter((path) =>
    BASES.every((base) => globSync(join(base, path), { cwd: ROOT }).length === 0),
  );
}

function read(name: string): string {
  return readFileSync(join(ROOT, 'docs', name), 'utf8');
}

test.each(['security.md', 'reliability.md'])('docs/%s names only tests and files that exist', (name) => {
  expect(pathsIn(read(name)).length).toBeGreaterThan(15);
  expect(missingIn(read(name))).toEqual([]);
});

test('a path that does not exist is found', () => {
  const text =
    'in `test/e2e/serve.test.ts`, `keys.ts`, `test/e2e/none.test.ts`, `none.ts`, `soak/none/` and `npm test`';
  expect(missingIn(text)).toEqual(['test/e2e/none.test.ts', 'none.ts', 'soak/none/']);
});

test('docs/operations.md describes each field of the line of a request, and no other', () => {
  const [, text = ''] = read('operations.md').split('At the level `info`, each request has one line:\n\n');
  const rows = (text.split('\n\n')[0] ?? '').split('\n').slice(2);
  const described = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  const lines: string[] = [];
  const log = logTo({ write: (line) => lines.push(line) }, 'info');
  logObserver(log).onRequest?.({ ...OUTCOME, path: '/v1/pets', aborted: true, traceparent: 'value' });
  expect(Object.keys(JSON.parse(lines.join(''))).toSorted()).toEqual(described.toSorted());
});

test('docs/security.md has a row with a test for each item of the OWASP API Security Top 10', () => {
  const rows = read('security.md')
    .split('\n')
    .filter((line) => /^\| API\d/.test(line));
  expect(rows.map((row) => /API\d+/.exec(row)?.[0])).toEqual(
    Array.from({ length: 10 }, (_, index) => `API${index + 1}`),
  );
  expect(rows.filter((row) => pathsIn(row).length === 0)).toEqual([]);
});
