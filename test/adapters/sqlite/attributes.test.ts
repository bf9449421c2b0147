/** The newest schema has a column for each attribute, with its rules. */

import { expect, test } from 'vitest';
import { columnOf, indexOf } from '../../../src/adapters/storage-kit/pet-rows.ts';
import { PET_FILTERS } from '../../../src/domain/pet-filter.ts';
import { EXPECTED_TABLE, insertPet } from '../../support/pets.ts';
import { connect } from '../../support/sqlite.ts';
import { newStore } from './temporary-file.ts';

const TYPES = {
  text: 'TEXT',
  'one of': 'TEXT',
  int64: 'INTEGER',
  integer: 'INTEGER',
  boolean: 'INTEGER',
  timestamp: 'TEXT',
};

test('the table of pets has the columns of the attributes', () => {
  const columns = connect(newStore()).pragma('table_info(pets)') as Record<string, unknown>[];
  const expected = EXPECTED_TABLE.map(({ column, kind, isNullable }) => ({
    name: column,
    type: TYPES[kind],
    notnull: isNullable ? 0n : 1n,
  }));
  expect(columns).toMatchObject([{ name: 'id', type: 'INTEGER', pk: 1n }, ...expected]);
});

test('each filter has its index', () => {
  const db = connect(newStore());
  for (const name of PET_FILTERS) {
    const columns = db.pragma(`index_info(${indexOf(name)})`);
    expect(columns, `the filter ${name} needs its index`).toMatchObject([{ name: columnOf(name) }]);
  }
});

test('the columns accept the values of the attributes and no others', () => {
  const db = connect(newStore());
  for (const { accepted, refused } of EXPECTED_TABLE) {
    for (const pet of accepted) db.exec(insertPet(pet));
    for (const pet of [...refused, { id: 0n }])
      expect(() => db.exec(insertPet(pet)), insertPet(pet)).toThrow(/(CHECK|NOT NULL) constraint failed/);
  }
});
