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
  const [first, ...others] = PET_ATTRIBUTES.map(columnOf);
  const values = [first, ...others.map(() => 'NULL')];
  const sql = selectInvalidPets(
    ['id', `${first}`],
    () => 'fits',
    () => 'fits',
  );
  expect(sql).toMatch(`SELECT ${['id', ...values].join(', ')} FROM pets WHERE NOT (id > 0 AND `);
  for (const name of others) expect(sql).not.toContain(name);
});
