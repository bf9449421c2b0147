/** The newest schema has a column for each attribute, with its rules. */

import { expect, test } from 'vitest';
import { columnOf, indexOf } from '../../../src/adapters/storage-kit/pet-rows.ts';
import { PET_FILTERS } from '../../../src/domain/pet-filter.ts';
import { EXPECTED_TABLE, insertPet } from '../../support/pets.ts';
import { connect, describePostgres } from '../../support/postgres/index.ts';
import { newStoreUrl } from './database.ts';

const TYPES = {
  text: 'text',
  'one of': 'text',
  int64: 'bigint',
  integer: 'bigint',
  boolean: 'boolean',
  timestamp: 'timestamp with time zone',
};
const COLUMNS = `SELECT column_name AS name, data_type AS type, is_nullable = 'YES' AS nullable
  FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'pets' ORDER BY ordinal_position`;

const INDEX = `SELECT indexdef AS definition FROM pg_indexes
  WHERE schemaname = current_schema() AND tablename = 'pets' AND indexname = $1`;

describePostgres('the table of pets', () => {
  test('has the columns of the attributes', async () => {
    const { rows } = await (await connect(await newStoreUrl())).query(COLUMNS);
    const expected = EXPECTED_TABLE.map(({ column, kind, isNullable }) => ({
      name: column,
      type: TYPES[kind],
      nullable: isNullable,
    }));
    expect(rows).toEqual([{ name: 'id', type: 'bigint', nullable: false }, ...expected]);
  });

  test('has the index of each filter', async () => {
    const client = await connect(await newStoreUrl());
    for (const name of PET_FILTERS) {
      const { rows } = await client.query(INDEX, [indexOf(name)]);
      const definition = expect.stringMatching(`\\(${columnOf(name)}, id\\)$`);
      expect(rows, `the filter ${name} needs its index`).toEqual([{ definition }]);
    }
  });

  test('accepts the values of the attributes and no others', async () => {
    const client = await connect(await newStoreUrl());
    for (const { accepted, refused } of EXPECTED_TABLE) {
      for (const pet of accepted) await client.query(insertPet(pet));
      const broken = { code: expect.stringMatching(/^2[23]/) };
      for (const pet of refused)
        await expect(client.query(insertPet(pet)), insertPet(pet)).rejects.toMatchObject(broken);
    }
  });
});
