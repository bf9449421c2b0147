import { describe, expect, test } from 'vitest';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts';
import { connect, openStorage } from './database.ts';
import { startProxy } from './proxy.ts';

const PETS = 50_000;

describe.skipIf(!canRunPostgres)(`the plans of PostgreSQL${postgresNote}`, () => {
  test.each(['auto', 'force_generic_plan'])(
    'a list by a status that few pets have reads few rows: plan_cache_mode = %s',
    async (mode) => {
      const url = await newDatabaseUrl();
      const proxy = await startProxy(url);
      const storage = await openStorage(proxy.url);
      const admin = await connect(url);
      await admin.query(`
        INSERT INTO pets (name, category_id, status)
          SELECT 'pet ' || n, n, CASE WHEN n % 10000 = 0 THEN 'sold' ELSE 'available' END
          FROM generate_series(1, ${PETS}) AS n;
        ANALYZE pets`);
      const database = new URL(url).pathname.slice(1);
      await admin.query(`ALTER DATABASE ${database} SET plan_cache_mode = '${mode}'`);
      proxy.cutAll();
      await expect
        .poll(() =>
          storage.pets.list({ limit: 1 }).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true);
      const before = await rowsRead(url);
      // After five executions, PostgreSQL may choose a generic plan.
      for (let count = 0; count < 20; count++) {
        const after = BigInt(count * 2000);
        const { pets } = await storage.pets.list({ limit: 2, status: 'sold', after });
        expect(pets.length).toBeLessThanOrEqual(2);
        for (const { id, status } of pets) expect([id > after, status]).toEqual([true, 'sold']);
        expect((await storage.pets.list({ limit: 2, after })).pets).toHaveLength(2);
        expect(await storage.pets.find(after + 1n)).toBeDefined();
      }
      await storage.close();
      // The statistics arrive after the connections have ended.
      await expect.poll(async () => (await rowsRead(url)).index > before.index, { timeout: 5000 }).toBe(true);
      const { sequential, index } = await rowsRead(url);
      expect(sequential - before.sequential).toBe(0);
      expect(index - before.index).toBeLessThan(1000);
    },
  );
});

/** The numbers of rows that statements have read with sequential scans, and with index scans. */
async function rowsRead(url: string): Promise<{ sequential: number; index: number }> {
  const client = await connect(url);
  await client.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await client.query(`SELECT
    pg_stat_get_tuples_returned('pets'::regclass)::int AS sequential,
    (SELECT sum(pg_stat_get_tuples_returned(indexrelid))::int FROM pg_index WHERE indrelid = 'pets'::regclass) AS index`);
  return rows[0];
}
