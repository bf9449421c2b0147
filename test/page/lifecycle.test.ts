/** Operations that are deprecated or can still change, on the reference page. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { generateDocument } from '../../openapi/document.ts';
import { guidesOfOperations, readReference } from '../../page/reference.ts';
import { openApiDocument } from '../../src/adapters/http/docs/openapi.ts';
import { servedOperations } from '../../src/adapters/http/lifecycle.ts';
import { CHANGING } from '../support/lifecycle.ts';

const TEXT = generateDocument();

test('a deprecated operation has the day of its removal, if the document says it', () => {
  const operationsOf = (text: string) => readReference(text).operations;
  const [list, , get] = operationsOf(TEXT);
  expect(get).toMatchObject({ slug: 'get-pet', isDeprecated: true, sunset: '5 Dec 2030' });
  expect(get?.successes[0]?.headers).toContainEqual(['Sunset', expect.objectContaining({ required: true })]);
  expect(list).toMatchObject({ isDeprecated: false });
  expect(list).not.toHaveProperty('sunset');
  const later = TEXT.replaceAll('05 Dec 2030', '01 Feb 2031');
  expect(operationsOf(later)[2]).toMatchObject({ isDeprecated: true, sunset: '1 Feb 2031' });
  const unknown = TEXT.replaceAll('"const": "Thu, 05 Dec 2030 00:00:00 GMT"', '"type": "string"');
  expect(operationsOf(unknown)[2]).not.toHaveProperty('sunset');
});

test('an operation has its level of stability', () => {
  const unstable = generateDocument(servedOperations().map((each) => ({ ...each, stability: 'beta' })));
  for (const { stability } of readReference(unstable).operations) expect(stability).toBe('beta');
  const { operations } = readReference(openApiDocument('', CHANGING));
  const levels = operations.filter(({ stability }) => stability !== undefined).map(({ slug }) => slug);
  expect(levels).toEqual(['change-pet', 'remove-pet', 'list-changes']);
});

test('a guide whose first method has no operation is left out', () => {
  const guides = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8');
  const shown = (text: string) => guidesOfOperations(guides, readReference(text).operations);
  expect(shown(openApiDocument('', CHANGING))).toBe(guides);
  const lines = shown(TEXT).split('\n');
  expect(guides.split('\n').filter((line) => line.startsWith('#') && !lines.includes(line))).toEqual([
    '## How do I change a pet?',
    '## What if somebody else changed it?',
    '## What if the response was lost?',
    '## How long does a removed pet survive?',
  ]);
});
