import type { Client } from 'pg';
import { expect, test } from 'vitest';
import { REMOVE, statementFor } from '../../../src/adapters/postgres/creates.ts';
import { openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { statementFor as changeStatementFor } from '../../../src/adapters/postgres/pet-changes.ts';
import { listStatement } from '../../../src/adapters/postgres/pets.ts';
import { PET_FILTERS } from '../../../src/domain/pet-filter.ts';
import { filterablePets, SAMPLE_FILTERS } from '../../../src/testing/fixtures/filters.ts';
import { insertPet, insertPets } from '../../support/pets.ts';
import { connect, describePostgres } from '../../support/postgres/index.ts';
import { attemptWith, newStoreUrl, REX, withSetting } from './database.ts';

const PETS = 10_000;

describePostgres('the plans of PostgreSQL', () => {
  test('a list by a value that few pets have reads few rows, also with a generic plan', async () => {
    const url = await newStoreUrl();
    const admin = await connect(url);
    const [name] = PET_FILTERS;
    const rare = filterablePets(9).find((pet) => name !== undefined && pet[name] !== REX[name]);
    const filter = name === undefined ? {} : { [name]: rare?.[name] };
    const rest = Array.from({ length: 5 }, (_, index) =>
      insertPet({ id: BigInt(((index + 1) * PETS) / 5), ...filter }),
    );
    await admin.query(
      `${insertPets(PETS)} DELETE FROM pets WHERE id % ${PETS / 5} = 0; ${rest.join('')} ANALYZE pets`,
    );
    for (const mode of ['auto', 'force_generic_plan']) {
      const before = await rowsRead(admin);
      const storage = await openPostgresStorage(withSetting(url, 'plan_cache_mode', mode));
      // After five executions, PostgreSQL may choose a generic plan.
      for (let count = 0; count < 10; count++) {
        const after = BigInt((count * PETS) / 20);
        await storage.pets.list({ limit: 2, ...filter, after });
        await storage.pets.list({ limit: 2, after });
        await storage.pets.find(after + 1n);
      }
      await storage.close();
      // The statistics arrive after the connections have ended.
      await expect.poll(async () => (await rowsRead(admin)).index).toBeGreaterThan(before.index);
      const { sequential, index } = await rowsRead(admin);
      expect([mode, sequential - before.sequential]).toEqual([mode, 0]);
      expect([mode, index - before.index < 500]).toEqual([mode, true]);
    }
    for (const filter of SAMPLE_FILTERS) {
      const { text, values } = listStatement({ ...filter, limit: 2, after: 7n });
      const { rows } = await admin.query(`EXPLAIN ${text}`, values);
      const isFiltered = Object.values(filter).some((value) => value !== undefined);
      const index = isFiltered ? 'pets_by_' : 'pets_pkey';
      expect(JSON.stringify(rows)).toContain(`Index Scan using ${index}`);
    }
  });

  test('each statement that draws ids or changes records reads the lock of the order, or PostgreSQL would leave it out', async () => {
    const admin = await connect(await newStoreUrl());
    const change = { pet: { id: 1n, ...REX }, isRemoval: false, expected: 1n };
    const statements = [
      statementFor([{ pet: REX }]),
      statementFor([{ pet: REX, attempt: attemptWith('a') }]),
      { text: REMOVE, values: [10] },
      changeStatementFor([change]),
      changeStatementFor([{ ...change, attempt: { ...attemptWith('a'), request: 'change' } }]),
    ];
    for (const mode of ['force_custom_plan', 'force_generic_plan']) {
      await admin.query(`SET plan_cache_mode = ${mode}`);
      for (const { text, values } of statements) {
        const { rows } = await admin.query(`EXPLAIN ${text}`, values);
        expect(JSON.stringify(rows)).toContain('CTE Scan on ordered');
      }
    }
  });
});

/** The numbers of rows that statements have read with sequential scans, and with index scans. */
async function rowsRead(client: Client): Promise<{ sequential: number; index: number }> {
  await client.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await client.query(`SELECT
    pg_stat_get_tuples_returned('pets'::regclass)::int AS sequential,
    (SELECT sum(pg_stat_get_tuples_returned(indexrelid))::int FROM pg_index WHERE indrelid = 'pets'::regclass) AS index`);
  return rows[0];
}
