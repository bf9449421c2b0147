/** The rows of pets and keys. The tests of each database cover what only that database needs. */

import { expect, test } from 'vitest';
import {
  columnOf,
  existingColumns,
  fromColumn,
  petOf,
  valuesOf,
} from '../../../src/adapters/storage-kit/pet-rows.ts';
import { type NewPet, PET_ATTRIBUTES, petFault } from '../../../src/domain/pet.ts';
import { REX } from '../../support/pets.ts';

test('a column that an older table lacks is selected as NULL, and breaks no rule', () => {
  const [first, ...others] = PET_ATTRIBUTES.map(columnOf);
  const { selected, lacking } = existingColumns(['id', `${first}`]);
  expect(selected).toBe(['id', first, ...others.map(() => 'NULL')].join(', '));
  const row = [1n, REX[PET_ATTRIBUTES[0] as keyof NewPet], ...others.map(() => null)];
  expect(petFault({ ...lacking, ...petOf(row) })).toBeUndefined();
  expect(existingColumns(PET_ATTRIBUTES.map(columnOf)).lacking).toEqual({});
});

test('a column has the name of its attribute, in lower case', () => {
  expect(columnOf('aLongName' as keyof NewPet)).toBe('a_long_name');
});

test.each([
  ['integer', 7n, 7],
  ['int64', 1n, 1n],
  ['boolean', 0n, false],
  ['boolean', 1n, true],
  ['boolean', true, true],
  ['boolean', 2n, 2n],
] as const)('the %s %s in a column is read as %s', (kind, stored, value) => {
  expect(fromColumn(kind, stored)).toBe(value);
});

test.each([
  [7, 7n],
  [true, 1n],
  [false, 0n],
  ['7', '7'],
  [undefined, null],
])('the value %s of an attribute is stored as %s', (value, stored) => {
  expect(valuesOf({ ...REX, [PET_ATTRIBUTES[0] as keyof NewPet]: value as never })[0]).toBe(stored);
});
