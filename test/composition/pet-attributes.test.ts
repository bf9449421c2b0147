/** The attributes of a pet in the output of `animal-store pets`. */

import { expect, test } from 'vitest';
import { inMemory } from '../adapters/cli/cli.ts';
import { optionsOf, withRequired } from '../support/pets.ts';

test('the columns of a table are as wide as their values, and a category is no id', async () => {
  const rex = optionsOf(withRequired({ name: 'Rex', categoryId: 9007199254740993n }));
  const { out } = await inMemory().run(['pets', 'create', ...rex]);
  const table = /^ID {2}NAME {2}CATEGORY {10}STATUS\b.*\n1 {3}Rex {3}9007199254740993 {2}available\b.*\n$/;
  expect(out).toMatch(table);
});

test.each([
  [['--status', 'lost'], 'Allowed choices are available, pending, sold'],
  [['--name', ''], 'name must have'],
  [['--category-id', '7n'], 'expected an integer from -'],
])('a change with %j is wrong usage', async (args, message) => {
  const { status, err } = await inMemory().run(['pets', 'change', '1', ...args]);
  expect([status, err]).toEqual([2, expect.stringContaining(message)]);
  expect(err).toContain('(see animal-store pets change --help)');
});
