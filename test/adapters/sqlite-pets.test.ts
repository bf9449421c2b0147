import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openReader, prepareDatabase } from '../../src/adapters/sqlite/database.ts';
import { SqlitePetRepository } from '../../src/adapters/sqlite/pet-repository.ts';
import { ReadSnapshot } from '../../src/adapters/sqlite/read-snapshot.ts';
import { Writer } from '../../src/adapters/sqlite/writer.ts';
import { INT64_MAX } from '../../src/domain/int64.ts';
import { connect, makeStore, openStorage, REX, temporaryFile } from './sqlite-file.ts';

const INSERT = `INSERT INTO pets (name, category_id, status) VALUES ('Max', 2, 'sold')`;

/** A store that has given away every id up to this one. */
async function storeAfter(lastId: bigint): Promise<string> {
  const path = temporaryFile();
  await makeStore(path, 1);
  const db = connect(path);
  db.prepare(`UPDATE sqlite_sequence SET seq = ? WHERE name = 'pets'`).run(lastId);
  db.close();
  return path;
}

test('ids beyond 2^53 are exact', async () => {
  const { pets } = openStorage(await storeAfter(2n ** 53n));
  for (const expected of [2n ** 53n + 1n, 2n ** 53n + 2n, 2n ** 53n + 3n]) {
    const pet = await pets.add(REX);
    expect(pet.id).toBe(expected);
    expect(await pets.find(expected)).toEqual(pet);
    expect(await pets.list({ limit: 1, after: expected - 1n })).toEqual({ pets: [pet], more: false });
  }
});

test('the greatest id is given away, and after it none', async () => {
  const { pets } = openStorage(await storeAfter(INT64_MAX - 1n));
  const last = await pets.add(REX);
  expect(last.id).toBe(INT64_MAX);
  for (let time = 0; time < 2; time++) {
    await expect(pets.add(REX)).rejects.toMatchObject({ code: 'storage_unavailable' });
  }
  expect(await pets.find(INT64_MAX)).toEqual(last);
  expect((await pets.list({ limit: 5 })).pets.map(({ id }) => id)).toEqual([1n, INT64_MAX]);
  expect((await pets.list({ limit: 5, after: INT64_MAX - 1n })).pets).toEqual([last]);
});

test('an id is not given again when its row is gone', async () => {
  const path = temporaryFile();
  await makeStore(path, 3);
  connect(path).exec('DELETE FROM pets');
  expect((await openStorage(path).pets.add(REX)).id).toBe(4n);
});

test('what another connection wrote is seen in the next turn, on kept pages too', async () => {
  const path = temporaryFile();
  const { pets } = openStorage(path);
  const other = connect(path);
  await pets.add(REX);
  for (let id = 2n; id <= 5n; id++) {
    await pets.list({ limit: 100 });
    await pets.list({ limit: 100, status: 'sold' });
    other.exec(INSERT);
    await nextTurn();
    const { pets: listed } = await pets.list({ limit: 100 });
    expect(listed.at(-1)).toEqual({ id, name: 'Max', categoryId: 2n, status: 'sold' });
    expect((await pets.list({ limit: 100, status: 'sold' })).pets.at(-1)).toEqual(listed.at(-1));
    expect(await pets.find(id)).toEqual(listed.at(-1));
  }
});

test('all reads of a turn see the same moment', async () => {
  const path = temporaryFile();
  const { pets } = openStorage(path);
  const other = connect(path);
  await nextTurn();
  expect((await pets.list({ limit: 5 })).pets).toEqual([]);
  other.exec(INSERT);
  expect((await pets.list({ limit: 6 })).pets).toEqual([]);
  expect(await pets.find(1n)).toBeUndefined();
  await nextTurn();
  expect((await pets.list({ limit: 6 })).pets).toHaveLength(1);
});

test('a page is the same object until anybody writes', async () => {
  const path = temporaryFile();
  const { pets } = openStorage(path);
  await pets.add(REX);
  await pets.add(REX);
  const page = await pets.list({ limit: 1 });
  for (let turn = 0; turn < 3; turn++) {
    expect(await pets.list({ limit: 1 })).toBe(page);
    await nextTurn();
  }
  for (const query of [{ limit: 2 }, { limit: 1, after: 1n }, { limit: 1, status: 'sold' as const }]) {
    expect(await pets.list(query)).not.toBe(page);
  }

  await pets.add(REX);
  const afterOwn = await pets.list({ limit: 1 });
  expect(afterOwn).not.toBe(page);
  expect(await pets.list({ limit: 1 })).toBe(afterOwn);

  connect(path).exec(INSERT);
  await nextTurn();
  expect(await pets.list({ limit: 1 })).not.toBe(afterOwn);
});

test('an add that fails leaves the pages', async () => {
  const { pets } = openStorage(await storeAfter(INT64_MAX));
  const page = await pets.list({ limit: 1 });
  await expect(pets.add(REX)).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(await pets.list({ limit: 1 })).toBe(page);
});

test('the pages that are kept have a bound', async () => {
  const path = temporaryFile();
  await makeStore(path, 600);
  const { pets } = openStorage(path);
  const first = await pets.list({ limit: 100 });
  for (let after = 0n; after < 500n; after++) await pets.list({ limit: 100, after });
  const again = await pets.list({ limit: 100 });
  expect(again).not.toBe(first);
  expect(again).toEqual(first);
});

test('every read is a range of an index, without sorting', async () => {
  const path = temporaryFile();
  prepareDatabase(path);
  const db = openReader(path);
  const prepare = db.prepare.bind(db);
  const plans = new Map<string, string>();
  db.prepare = ((sql: string) => {
    const values = Array.from({ length: sql.split('?').length - 1 }, () => null);
    const steps = prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
    plans.set(sql, steps.map(({ detail }) => detail).join('; '));
    return prepare(sql);
  }) as typeof db.prepare;
  const writer = new Writer(path, () => {});
  const pets = new SqlitePetRepository(db, new ReadSnapshot(db), writer);
  expect(await pets.find(1n)).toBeUndefined();
  await nextTurn();
  await writer.close();
  db.close();

  const reads = [...plans].filter(([sql]) => sql.startsWith('SELECT'));
  expect(reads).toHaveLength(3);
  for (const [sql, plan] of reads) {
    expect(plan).toMatch(
      sql.includes('status = ?')
        ? /^SEARCH pets USING (COVERING )?INDEX pets_by_status \(status=\? AND rowid>\?\)$/
        : /^SEARCH pets USING INTEGER PRIMARY KEY \(rowid[=>]\?\)$/,
    );
  }
});
