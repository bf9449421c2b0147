/** Tests that the samples in the description of the API are the example clients, which `npm run test:clients` runs. */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { apiDescription } from '../../openapi/description.ts';
import { programOf } from '../../openapi/samples.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const FILES = new Map([
  ['sh', 'examples/curl.sh'],
  ['js', 'examples/client.js'],
  ['python', 'examples/client.py'],
  ['go', 'examples/client.go'],
]);

test('the description of the API has every program completely, once for each of its guides', () => {
  const description = apiDescription();
  for (const file of [...FILES.values(), 'examples/animal-store-client.js']) {
    for (const region of ['list', 'create'] as const) {
      expect(description).toContain(`\n${programOf(read(file), region)}\n\`\`\`\n`);
    }
  }
  for (const file of ['curl.sh', 'animal-store-client.js', 'client.js', 'client.py', 'client.go']) {
    expect(description).toContain(`\n${read(`examples/follow/${file}`).trim()}\n\`\`\`\n`);
  }
  expect(description.match(/^```\w/gm)).toHaveLength(3 * (FILES.size + 1));
});

test('a sample has the regions of its name and no other, without their marks', () => {
  const program = 'a\n\n  # region list\n  b\n  # endregion\n\n// region create\n\nc\n\n// endregion\n\nd\n';
  expect(programOf(program, 'list')).toBe('a\n\n  b\n\nd');
  expect(programOf(program, 'create')).toBe('a\n\nc\n\nd');
});

test('docs/api.md links to each client', () => {
  const document = read('docs/api.md');
  for (const file of FILES.values()) expect(document).toContain(`](../${file})`);
});

test('every client with a sample is run by the tests of the clients', () => {
  const runner = read('test/clients/examples.clients.js');
  for (const file of FILES.values()) expect(runner).toContain(`'${file}'`);
});
