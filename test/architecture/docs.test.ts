/** What the pages of reference say of the log and of attacks is complete. */

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { logTo } from '../../src/adapters/log/log.ts';
import { logObserver } from '../../src/adapters/log/observer.ts';
import { OUTCOME } from '../support/outcome.ts';

const ROOT = resolve(import.meta.dirname, '../..');

function read(name: string): string {
  return readFileSync(join(ROOT, 'docs', name), 'utf8');
}

/** The code spans of a text that name a file of `test` or `src`. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/`((?:test|src)\/[^`\s]+)`/g)].map(([, path = '']) => path);
}

test.each(['security.md', 'reliability.md'])('docs/%s names tests, and they exist', (name) => {
  const paths = pathsIn(read(name));
  expect(paths.length).toBeGreaterThan(4);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('docs/watch.md describes each field of the line of a request, and no other', () => {
  const [, below = ''] = read('watch.md').split('each request has one line with these fields:\n\n');
  const [list = ''] = below.split('\n\n');
  const described = [...list.matchAll(/`([a-zA-Z]+)`/g)].map(([, name = '']) => name);
  const lines: string[] = [];
  const log = logTo({ write: (line) => lines.push(line) }, 'info');
  logObserver(log).onRequest?.({ ...OUTCOME, path: '/v1/pets', aborted: true, traceparent: 'value' });
  const fields = Object.keys(JSON.parse(lines.join('')));
  const values = ['request'];
  expect([...new Set(described)].filter((name) => !values.includes(name)).toSorted()).toEqual(
    fields.toSorted(),
  );
});

test('docs/security.md has each item of the OWASP API Security Top 10', () => {
  const items = [...read('security.md').matchAll(/\bAPI(\d+)\b/g)].map(([, number]) => Number(number));
  expect([...new Set(items)].toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});
