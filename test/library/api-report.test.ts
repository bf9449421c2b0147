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

test('animal-store/client exports each type that its declarations use, and the class of its methods is that of the library', () => {
  const textOf = (name: string) => reports.find(({ entryPoint }) => entryPoint === name)?.text ?? '';
  const code = textOf('animal-store/client').replaceAll(/\/\*\*.*?\*\//gs, '');
  const exported = [...code.matchAll(/^export .*?(?:class|interface|type) (\w+)/gm)].map(([, name]) => name);
  const used = [...code.matchAll(/(?:: |[<|&] ?|readonly |extends |= )([A-Z]\w+[a-z])\b/g)].map(
    ([, name = '']) => name,
  );
  const ofPlatform = /^(ErrorOptions|Extract|Omit|Partial|Pick|Readonly|Record|RequestInit)$/;
  const foreign = new Set(
    used.filter((name) => !exported.includes(name) && !(name in globalThis) && !ofPlatform.test(name)),
  );
  expect(exported.length).toBeGreaterThan(10);
  expect([...foreign]).toEqual(['Store']);
  expect(textOf('animal-store')).toContain('export declare class BasicStore');
});
