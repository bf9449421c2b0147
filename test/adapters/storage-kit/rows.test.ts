/** The rows of pets and keys. What one database needs is tested there. */

import { expect, test } from 'vitest';
import { keyValues } from '../../../src/adapters/storage-kit/key-rows.ts';
import { columnOf, selectInvalidPets } from '../../../src/adapters/storage-kit/pet-rows.ts';
import { PET_ATTRIBUTES } from '../../../src/domain/pet.ts';

test('a key may write unless it is read-only', () => {
  const about = { name: 'ci', prefix: 'x', createdAt: 1 };
  const last = [about, { ...about, isReadOnly: true }].map((each) => keyValues('key', each).at(-1));
  expect(last).toEqual([0, 1]);
});

test('a column that an older table lacks is selected as NULL, and breaks no rule', () => {
  expect(columnOf('categoryId')).toBe('category_id');
  const values = PET_ATTRIBUTES.map((name) => (name === 'name' ? name : 'NULL'));
  expect(selectInvalidPets(['id', 'name'], (column, ...limits) => `fits(${[column, ...limits]})`)).toBe(
    `SELECT ${['id', ...values].join(', ')} FROM pets WHERE NOT (id > 0 AND fits(name,1,255)) ORDER BY id`,
  );
});
