import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { insertPet } from '../../support/pets.ts';
import { canRunPostgres, connect, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts';
import { attemptWith, named, openStorage, SLOW_INSERTS, walk } from './database.ts';

describe.skipIf(!canRunPostgres)(`two storages on one PostgreSQL database${postgresNote}`, () => {
  test('200 keys in different orders, half of which have an old record: each key has one pet', async () => {
    const url = await newDatabaseUrl();
    const storages = [await openStorage(url), await openStorage(url)];
    const keys = Array.from({ length: 200 }, (_, index) => `key ${(index * 7919) % 200}`);
    await (await connect(url)).query(`INSERT INTO idempotency_records (caller, key, pet_id, ends_at)
      SELECT '1', 'key ' || n, 1, 1 FROM generate_series(1, 100) AS n`);
    const orders = [keys, keys.toReversed()];
    const results = await Promise.all(
      storages.flatMap(({ idempotentCreates }) =>
        orders.flatMap((order) => order.map((key) => idempotentCreates.add(named(key), attemptWith(key)))),
      ),
    );
    expect(new Set(results.map(({ pet }) => `${pet.id} ${pet.name}`)).size).toBe(200);
    expect(results.filter(({ isReplay }) => !isReplay)).toHaveLength(200);
    expect(await walk(storages[0] as never, 1000)).toHaveLength(200);
  });

  test('a page has each pet that the other one has acknowledged, whatever other transactions do', async () => {
    const url = await newDatabaseUrl();
    const [writer, reader] = [await openStorage(url), await openStorage(url)];
    const other = await connect(url);
    const open = await connect(url);
    await open.query('BEGIN');
    await open.query(insertPet({ name: 'open' }));
    const names = async () => (await reader.pets.list({ limit: 1000 })).pets.map(({ name }) => name);
    const expected: string[] = [];
    for (let count = 0; count < 12; count++) {
      // The page is cached after equal versions.
      for (let times = 0; times < 3; times++) expect(await names()).toEqual(expected);
      if (count % 3 === 0) {
        await other.query('BEGIN');
        await other.query(insertPet({ name: 'rolled back' }));
        await names();
        await other.query('ROLLBACK');
      }
      const reading = names();
      await writer.pets.add(named(`${count}`));
      expected.push(`${count}`);
      await reading;
      expect(await names()).toEqual(expected);
    }
    await open.query('COMMIT');
    expect((await names()).toSorted()).toEqual([...expected, 'open'].toSorted());
  });

  test('followers of both miss no pet, although ids come long before their commits', async () => {
    const url = await newDatabaseUrl();
    const storages = [await openStorage(url), await openStorage(url)] as const;
    await (await connect(url)).query(SLOW_INSERTS);
    let isCreating = true;
    const follow = async ({ pets }: Storage): Promise<readonly bigint[]> => {
      const seen: bigint[] = [];
      for (let last = false; ; last = !isCreating) {
        const page = await pets.list({ limit: 100, after: seen.at(-1) });
        seen.push(...page.pets.map(({ id }) => id));
        if (last && page.pets.length === 0) return seen;
      }
    };
    const followers = storages.map(follow);
    const create = async (storage: Storage, client: number) => {
      for (let count = 0; count < 25; count++) {
        if (count % 2 === 0) await storage.pets.add(named('plain'));
        else await storage.idempotentCreates.add(named('keyed'), attemptWith(`${client} ${count}`));
      }
    };
    await Promise.all(
      Array.from({ length: 8 }, (_, client) => create(storages[client % 2] as Storage, client)),
    );
    isCreating = false;
    const stored = (await walk(storages[0], 1000)).map(({ id }) => id);
    expect(stored).toHaveLength(200);
    for (const seen of await Promise.all(followers)) expect(seen).toEqual(stored);
  });
});
