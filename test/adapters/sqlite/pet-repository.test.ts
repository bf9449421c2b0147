import Database from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { conditionsOf, PET_COLUMNS } from '../../../src/adapters/storage-kit/pet-rows.ts';
import { INT64_MAX } from '../../../src/domain/int64.ts';
import { SAMPLE_FILTERS } from '../../../src/testing/fixtures/filters.ts';
import { numberedPet } from '../../../src/testing/fixtures/pets.ts';
import { isNewRow } from '../../support/pets.ts';
import { connect } from '../../support/sqlite.ts';
import { MAX, newStore, openNearEnd, openStorage, REX, temporaryFile } from './temporary-file.ts';

test('of more adds than ids are left, the first are stored, and other writes too', async () => {
  const { pets, apiKeys } = openNearEnd();
  const about = { name: 'ci', prefix: 'x', createdAt: 1 };
  const adds = Promise.allSettled(Array.from({ length: 10 }, () => pets.add(REX)));
  expect(await apiKeys.add('key', about)).toMatchObject({ id: '1' });
  const refused = { status: 'rejected', reason: { reason: 'ids_exhausted' } };
  expect((await adds).slice(0, 3).map(({ status }) => status)).toEqual(Array(3).fill('fulfilled'));
  expect((await adds).slice(3)).toMatchObject(Array(7).fill(refused));
  await expect(pets.add(REX)).rejects.toMatchObject(refused.reason);
  expect((await pets.list({ limit: 9 })).pets.at(-1)?.id).toBe(INT64_MAX);
});

test.each(['ABORT', 'ROLLBACK'])(
  'an add that another program refuses with %s fails alone',
  async (action) => {
    const path = temporaryFile();
    const { pets } = openStorage(path);
    connect(path).exec(`CREATE TRIGGER refuse AFTER INSERT ON pets WHEN ${isNewRow(MAX)}
    BEGIN SELECT RAISE(${action}, 'no Max'); END`);
    const [first, last] = [numberedPet(1n), numberedPet(2n)];
    const adds = [first, MAX, last].map((pet) => pets.add(pet));
    const reason = { code: 'internal_error', message: expect.stringContaining('no Max') };
    expect(await Promise.allSettled(adds)).toMatchObject([{ value: first }, { reason }, { value: last }]);
    expect((await pets.list({ limit: 9 })).pets).toMatchObject([first, last]);
  },
);

test('every read is a range of an index, without sorting', async () => {
  const path = newStore();
  const prepare = vi.spyOn(Database.prototype, 'prepare');
  const { pets } = openStorage(path);
  for (const filter of SAMPLE_FILTERS) await pets.list({ ...filter, limit: 1 });
  const prepared = prepare.mock.calls.map(([sql]) => sql);
  const reads = new Set(prepared.filter((sql) => sql.startsWith(`SELECT ${PET_COLUMNS}`)));
  prepare.mockRestore();
  const db = connect(path);
  for (const sql of reads) {
    const values = Array.from(sql.matchAll(/\?/g), () => null);
    const ranges =
      /^SEARCH (pets USING (COVERING )?INDEX pets_by_\w+ \(\w+=\? AND rowid>\? AND rowid<\?\)|\w+ USING (INTEGER PRIMARY KEY|COVERING INDEX \w+) \((rowid|pet_id)([=>]\?( AND rowid<\?)?)\))$/;
    // The feed examines the rows of a range one by one.
    const steps = /^(CO-ROUTINE pets|SCAN pets|CORRELATED SCALAR SUBQUERY \d+)$/;
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
    const others = plan.filter(
      ({ detail }) => !ranges.test(detail) && !(plan.length > 1 && steps.test(detail)),
    );
    expect(others).toEqual([]);
  }
  const columns = SAMPLE_FILTERS.map((filter) => conditionsOf(filter).columns.join());
  expect(reads.size).toBe(2 + new Set(columns).size);
});
