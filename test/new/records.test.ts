import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { rowOf } from '../../scripts/attribute-text.ts';
import { attributesOf } from '../../scripts/new/attributes.ts';
import { renameFiles } from '../../scripts/new/collisions.ts';
import { namesOf } from '../../scripts/new/names.ts';
import { ROOT, textOf } from '../../scripts/new/project.ts';
import { withRecords } from '../../scripts/new/records.ts';

const BOOK = attributesOf('title:text(4..200), pages:integer(1..5)?, shelf:one of(fiction, science)=fiction');
const ORDER = attributesOf('number:int64, size:one of(small, large), status:one of(sold, lost)');
const OPTIONAL = attributesOf('weight:int64?, at:timestamp?');

test.each([
  [
    BOOK,
    [
      "createPet({ title: 'Rexx' });",
      `{"id":1,"title":"Rexx","shelf":"fiction"}`,
      "listPets({ shelf: 'fiction' })",
      "{ shelf: 'science' }",
      '/pets?shelf=science&limit=2',
    ],
  ],
  [
    ORDER,
    [
      "createPet({ number: 7n, size: 'small', status: 'sold' });",
      `{"id":1,"number":7,"size":"small","status":"sold"}`,
      "listPets({ size: 'small' })",
      "{ size: 'large' }",
      '/pets?size=large&limit=2',
    ],
  ],
  [
    OPTIONAL,
    ['createPet({ weight: 7n });', `{"id":1,"weight":7}`, 'listPets()', '{ weight: 1n }', '/pets?limit=2'],
  ],
])('records have the attributes', (attributes, expected) => {
  const texts = [
    "createPet({ name: 'Rex', categoryId: 7n });",
    `{"id":1,"name":"Rex","categoryId":7,"status":"available"}`,
    "listPets({ status: 'available' })",
    "{ status: 'pending' }",
    '/pets?status=pending&limit=2',
  ];

  expect(withRecords(texts.join('\n'), attributes)).toBe(expected.join('\n'));
});

test('the values of attributes stay as they are, even if they look like texts that are replaced', () => {
  const attributes = attributesOf(
    'kind:one of(rex, Minka), size:integer(0..7301)=7301, note:text(0..50)=docs/serve.md, place:text(0..50)=a reference page',
  );
  const [path, names] = ['src/domain/pet.ts', namesOf({ entity: 'book' })];
  const text = textOf(path, readFileSync(join(ROOT, path), 'utf8'), names, [], attributes);
  const [{ text: renamed } = { text }] = renameFiles([{ path, text }], names);
  for (const each of attributes) expect(renamed).toContain(rowOf(each));
});
