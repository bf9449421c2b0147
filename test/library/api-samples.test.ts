/** Tests that the samples in docs/api.md are parts of the example clients, which `npm run test:clients` runs. */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { apiDescription } from '../../openapi/description.ts';

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

test.each(['All pages', 'Retrying'])(
  '"%s" has a sample in each language, from a complete client',
  (section) => {
    const samples = samplesOf(section);
    expect(samples.map(({ language }) => language)).toEqual([...FILES.keys()]);
    for (const { language, code } of samples) {
      const file = read(FILES.get(language) ?? '');
      const indented = code.replaceAll(/^(?=.)/gm, '    ');
      expect(file.includes(code) || file.includes(indented), `${section}: ${language}`).toBe(true);
    }
  },
);

test('the description of the API has the same samples', () => {
  const description = apiDescription();
  for (const { language, code } of ['All pages', 'Retrying'].flatMap(samplesOf)) {
    expect(description).toContain(`\`\`\`${language}\n${code}\`\`\`\n`);
  }
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
