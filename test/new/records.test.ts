import { expect, test } from 'vitest';
import { attributesOf } from '../../scripts/new/attributes.ts';
import { withRecords } from '../../scripts/new/records.ts';

const BOOK = attributesOf('title:text(4..200), pages:integer(1..5)?, shelf:one of(fiction, science)=fiction');
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
