/** The description of the API links to the guides, which are the sections of docs/api.md. */

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { apiDescription, GUIDES } from '../../openapi/description.ts';
import { slugOf } from '../../page/reference.ts';
import { PROGRAMS } from '../../src/adapters/http/docs/assets.ts';
import { STATUS_OF } from '../../src/adapters/http/errors.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const guide = readFileSync(resolve(ROOT, 'docs/api.md'), 'utf8');
const headings = [...guide.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);

test('the description has less than 3,000 characters, and each of its links leads to a section of docs/api.md', () => {
  const description = apiDescription();
  expect(description.length).toBeLessThan(3000);
  const fragments = [...description.matchAll(/\]\(docs#([^)]+)\)/g)].map(([, fragment]) => fragment);
  expect(fragments).toHaveLength(Object.keys(GUIDES).length);
  for (const fragment of fragments) expect(headings.map(slugOf)).toContain(fragment);
});

test('each program that docs/api.md links to is on the server', () => {
  const linked = [...guide.matchAll(/\]\(\.\.\/examples\/([^)]+)\)/g)].map(([, program = '']) => program);
  expect([...new Set(linked)].toSorted()).toEqual(PROGRAMS.toSorted());
  for (const program of PROGRAMS) expect(existsSync(resolve(ROOT, 'examples', program)), program).toBe(true);
});

test('docs/api.md has a row for each error code, with its status', () => {
  for (const [code, status] of Object.entries(STATUS_OF))
    expect(guide).toContain(`| \`${code}\` | ${status} | `);
});
