/** Tests that the samples in docs/api.md and in the description of the API come from the examples, which tests run. */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { apiDescription } from '../../openapi/description.ts';
import { programOf } from '../../openapi/samples.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The file of each language in docs/api.md. */
const FILES = new Map([
  ['sh', 'examples/curl.sh'],
  ['js', 'examples/client.js'],
  ['python', 'examples/client.py'],
  ['go', 'examples/client.go'],
]);

function samplesOf(section: string): { language: string; code: string }[] {
  const [, text = ''] = read('docs/api.md').split(new RegExp(`^##+ ${section}\n`, 'm'));
  const [own = ''] = text.split(/^##+ [A-Z].*\n/m, 1);
  return [...own.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => ({
    language,
    code,
  }));
}

function withoutIndentation(code: string): string {
  return code.replaceAll(/^[ \t]+/gm, '');
}

test.each(['All pages', 'Retrying'])(
  '"%s" has a sample in each language, from a complete client',
  (section) => {
    const samples = samplesOf(section);
    expect(samples.map(({ language }) => language)).toEqual([...FILES.keys()]);
    for (const { language, code } of samples) {
      const file = read(FILES.get(language) ?? '');
      const program = programOf(file, section === 'All pages' ? 'list' : 'create');
      const paragraphs = withoutIndentation(code).trim().split('\n\n');
      for (const paragraph of paragraphs) expect(withoutIndentation(program), section).toContain(paragraph);
    }
  },
);

test('the description of the API has every program completely, once for each of its guides', () => {
  const description = apiDescription();
  for (const file of [...FILES.values(), 'examples/animal-store-client.js']) {
    for (const region of ['list', 'create'] as const) {
      expect(description).toContain(`\n${programOf(read(file), region)}\n\`\`\`\n`);
    }
  }
  expect(description.match(/^```\w/gm)).toHaveLength(2 * (FILES.size + 1));
});

test('a sample has the regions of its name and no other, without their marks', () => {
  const program = 'a\n\n  # region list\n  b\n  # endregion\n\n// region create\n\nc\n\n// endregion\n\nd\n';
  expect(programOf(program, 'list')).toBe('a\n\n  b\n\nd');
  expect(programOf(program, 'create')).toBe('a\n\nc\n\nd');
});

test('docs/api.md has no other samples, and links to the client of each sample', () => {
  const document = read('docs/api.md');
  expect(document.match(/^```\w+$/gm)).toHaveLength(2 * FILES.size);
  for (const file of FILES.values()) expect(document).toContain(`](../${file})`);
});

test('every client with a sample is run by the tests of the clients', () => {
  const runner = read('test/clients/examples.js');
  for (const file of FILES.values()) expect(runner).toContain(`'${file}'`);
});
