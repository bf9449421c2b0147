import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openReader } from '../../../src/adapters/sqlite/database.ts';
import { filesOf } from '../../../src/adapters/sqlite/files.ts';
import { petRepository } from '../../../src/adapters/sqlite/pet-repository.ts';
import { Reads } from '../../../src/adapters/sqlite/reads.ts';
import { Writer } from '../../../src/adapters/sqlite/writer.ts';
import { INT64_MAX } from '../../../src/domain/int64.ts';
import { insertPet, withRequired } from '../../support/pets.ts';
import { connect } from '../../support/sqlite.ts';
import { newFaults, newStore, openStorage, REX, temporaryFile } from './temporary-file.ts';

const MAX = withRequired({ ...REX, name: 'Max', categoryId: 2n, status: 'sold' });
const INSERT = insertPet(MAX);

/** A store that has assigned every id up to this one. */
function storeAfter(lastId: bigint): string {
  const path = newStore(1);
  const db = connect(path);
  db.prepare(`UPDATE sqlite_sequence SET seq = ? WHERE name = 'pets'`).run(lastId);
  db.close();
  return path;
}

/** The pets of a new store, and another connection to its file. */
function openTwice() {
  const path = temporaryFile();
  return { pets: openStorage(path).pets, other: connect(path) };
}

test('the greatest id is assigned, and no id after it', async () => {
  const { pets } = openStorage(storeAfter(INT64_MAX - 1n));
  const last = await pets.add(REX);
  expect(last.id).toBe(INT64_MAX);
  for (let time = 0; time < 2; time++) {
    await expect(pets.add(REX)).rejects.toMatchObject({ code: 'storage_unavailable' });
  }
  expect(await pets.find(INT64_MAX)).toEqual(last);
  expect((await pets.list({ limit: 5 })).pets.map(({ id }) => id)).toEqual([1n, INT64_MAX]);
  expect((await pets.list({ limit: 5, after: INT64_MAX - 1n })).pets).toEqual([last]);
});

test('of more adds than ids are left, the first are stored, and other writes too', async () => {
  const { pets, apiKeys } = openStorage(storeAfter(INT64_MAX - 3n));
  const about = { name: 'ci', prefix: 'x', createdAt: 1 };
  const adds = Promise.allSettled(Array.from({ length: 10 }, () => pets.add(REX)));
  expect(await apiKeys.add('key', about)).toMatchObject({ id: '1' });
  const refused = { status: 'rejected', reason: { reason: 'ids_exhausted' } };
  expect((await adds).slice(0, 3).map(({ status }) => status)).toEqual(Array(3).fill('fulfilled'));
  expect((await adds).slice(3)).toMatchObject(Array(7).fill(refused));
  expect((await pets.list({ limit: 9 })).pets.at(-1)?.id).toBe(INT64_MAX);
});

test.each(['ABORT', 'ROLLBACK'])(
  'an add that another program refuses with %s fails alone',
  async (action) => {
    const path = temporaryFile();
    const { pets } = openStorage(path);
    connect(path).exec(`CREATE TRIGGER refuse AFTER INSERT ON pets WHEN NEW.name = 'Max'
    BEGIN SELECT RAISE(${action}, 'no Max'); END`);
    const adds = ['a', 'Max', 'b'].map((name) => pets.add({ ...REX, name }));
    const refused = { code: 'internal_error', message: expect.stringContaining('no Max') };
    expect(await Promise.allSettled(adds)).toMatchObject([
      { value: { name: 'a' } },
      { reason: refused },
      { value: { name: 'b' } },
    ]);
    expect((await pets.list({ limit: 9 })).pets.map(({ name }) => name)).toEqual(['a', 'b']);
  },
);

test('a write of another connection is seen in the next turn, in cached pages too', async () => {
  const { pets, other } = openTwice();
  await pets.add(REX);
  for (let id = 2n; id <= 5n; id++) {
    await pets.list({ limit: 100 });
    await pets.list({ limit: 100, status: 'sold' });
    other.exec(INSERT);
    await nextTurn();
    const { pets: listed } = await pets.list({ limit: 100 });
    expect(listed.at(-1)).toEqual({ id, ...MAX });
    expect((await pets.list({ limit: 100, status: 'sold' })).pets.at(-1)).toEqual(listed.at(-1));
    expect(await pets.find(id)).toEqual(listed.at(-1));
  }
});

test('a cached list has what another storage has stored earlier in the same turn', async () => {
  const { pets, other } = openTwice();
  await pets.list({ limit: 5 });
  await nextTurn();
  expect((await pets.list({ limit: 5 })).pets).toEqual([]);
  other.exec(INSERT);
  expect((await pets.list({ limit: 5 })).pets).toHaveLength(1);
});

test('a read after an add sees the pet, even when a snapshot was open during the commit', async () => {
  const path = temporaryFile();
  const { pets } = openStorage(path);
  await pets.add(REX);
  const adding = pets.add(REX);
  // The write is sent to the thread in this turn. The snapshot of `list` stays open until the end of the next turn.
  await nextTurn();
  await pets.list({ limit: 5 });
  const count = connect(path).prepare('SELECT count(*) FROM pets').pluck();
  const end = Date.now() + 30_000;
  while (count.get() === 1n) expect(Date.now(), 'the commit of the second pet').toBeLessThan(end);
  const pet = await adding;
  expect(await pets.find(pet.id)).toEqual(pet);
  expect((await pets.list({ limit: 5 })).pets).toHaveLength(2);
});

test('the same query returns the same page object until any connection writes', async () => {
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

test('every read is a range of an index, without sorting', async () => {
  const path = newStore();
  const db = openReader(path);
  const prepare = db.prepare.bind(db);
  const plans = new Map<string, string>();
  db.prepare = ((sql: string) => {
    const values = Array.from({ length: sql.split('?').length - 1 }, () => null);
    const steps = prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
    plans.set(sql, steps.map(({ detail }) => detail).join('; '));
    return prepare(sql);
  }) as typeof db.prepare;
  const faults = newFaults();
  const pets = petRepository(db, new Reads(db, faults), new Writer(filesOf(path), faults, () => {}));
  expect(await pets.find(1n)).toBeUndefined();
  await nextTurn();
  db.close();

  const reads = [...plans].filter(([sql]) => sql.startsWith('SELECT id'));
  expect(reads).toHaveLength(3);
  for (const [sql, plan] of reads) {
    expect(plan).toMatch(
      sql.includes('status = ?')
        ? /^SEARCH pets USING (COVERING )?INDEX pets_by_status \(status=\? AND rowid>\?\)$/
        : /^SEARCH pets USING INTEGER PRIMARY KEY \(rowid[=>]\?\)$/,
    );
  }
});
