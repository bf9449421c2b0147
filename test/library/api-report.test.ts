/** The public surface is the one in docs/api/, and every name in it has a docstring. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { apiReports, REPORTS } from '../../scripts/api-report.ts';

const reports = apiReports();

test('docs/api has a report per entry point and nothing else', () => {
  expect(reports.map(({ entryPoint }) => entryPoint)).toEqual([
    'animal-store',
    'animal-store/memory',
    'animal-store/sqlite',
    'animal-store/postgres',
    'animal-store/storage-kit',
    'animal-store/http',
    'animal-store/fetch',
    'animal-store/client',
    'animal-store/testing',
  ]);
  expect(readdirSync(REPORTS).toSorted()).toEqual(reports.map(({ file }) => file).toSorted());
});

test.each(reports)('the report of $entryPoint is up to date: npm run api:report', ({ file, text }) => {
  expect(readFileSync(join(REPORTS, file), 'utf8')).toBe(text);
});

test.each(reports)('every name that $entryPoint exports has a docstring', ({ text, undocumented }) => {
  expect(text).toContain('export');
  expect(undocumented).toEqual([]);
});
