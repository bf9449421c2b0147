import { expect, test } from 'vitest';
import { examinePostgresStore } from '../../../src/adapters/postgres/index.ts';
import { TAKE_ORDER } from '../../../src/adapters/postgres/pets.ts';
import { EXAMINED_LIMIT } from '../../../src/adapters/storage-kit/changes-page.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { INT64_MAX } from '../../../src/domain/int64.ts';
import { insertPet } from '../../support/pets.ts';
import { connect, describePostgres } from '../../support/postgres/index.ts';
import * as db from './database.ts';

const { MAX, attemptWith, openStorage, openStore, REX, untilBlocked, walk } = db;
const by = (key: string) => ({ ...attemptWith(key), request: 'change' });

describePostgres('changes of pets on PostgreSQL', () => {
  test('a page examines a bounded number of pets, and those behind it follow', async () => {
    const { url, storage } = await openStore();
    const pets = EXAMINED_LIMIT + 50;
    await (await connect(url)).query(`
      ${insertPet().replace(/VALUES \((.*)\);$/, `SELECT $1 FROM generate_series(1, ${pets});`)}
      INSERT INTO pet_revisions (pet_id, revision) SELECT id, id + 1000000 FROM pets WHERE id < ${pets};
      SELECT setval('pets_id_seq', 1000000 + ${pets})`);
    const first = await storage.changes.list({ limit: 2 });
    expect(first).toMatchObject({ versions: [], upTo: BigInt(EXAMINED_LIMIT), more: true });
    const second = await storage.changes.list({ limit: 2, after: first.upTo });
    expect(second.versions.map(({ id }) => id)).toEqual([BigInt(pets), 1n]);
  });

  test('when all numbers have been assigned, a change is refused, and changes nothing', async () => {
    const { url, storage } = await openStore();
    const { pets, changes, idempotentChanges: writes } = storage;
    const pet = await pets.add(REX);
    await (await connect(url)).query(`SELECT setval('pets_id_seq', ${INT64_MAX})`);
    const exhausted = { code: 'storage_unavailable', reason: 'ids_exhausted' };
    const changed = { ...pet, ...MAX };
    await expect(changes.replace(changed, pet.id)).rejects.toMatchObject(exhausted);
    await expect(changes.remove(pet.id, pet.id)).rejects.toMatchObject(exhausted);
    await expect(writes.replace(changed, pet.id, by('a'))).rejects.toMatchObject(exhausted);
    expect(await pets.find(pet.id)).toEqual(pet);
    expect(await storage.idempotencyRecords.count()).toBe(0);
  });

  test.each([
    ['for the first time', false],
    ['again', true],
  ])(
    'a pet that another server changes %s, after the snapshot of a statement, is not changed by it',
    async (_, isChanged) => {
      const { url, storage } = await openStore();
      const { pets, changes, idempotentChanges: writes } = storage;
      const pet = await pets.add(REX);
      const expected = isChanged ? ((await changes.replace(pet, pet.id)) ?? 0n) : pet.id;
      for (const write of [
        () => changes.replace({ ...pet, ...MAX }, expected),
        () => writes.replace({ ...pet, ...MAX }, expected, by('a')),
        () => changes.remove(pet.id, expected),
      ]) {
        const other = await connect(url);
        await other.query(`DELETE FROM pet_revisions`);
        if (isChanged) await other.query(`INSERT INTO pet_revisions VALUES (${pet.id}, ${expected})`);
        await other.query(`BEGIN; ${TAKE_ORDER}`);
        const writing = write();
        await untilBlocked(other);
        await other.query(`INSERT INTO pet_revisions VALUES (${pet.id}, nextval('pets_id_seq'))
        ON CONFLICT (pet_id) DO UPDATE SET revision = excluded.revision; COMMIT`);
        expect(await writing).toBeUndefined();
        expect(await pets.find(pet.id)).toEqual(pet);
        expect((await writes.find(pet.id, by('a'))).record).toBeUndefined();
      }
    },
  );

  test('a key that another server uses after the snapshot of a statement: nothing is changed', async () => {
    const { url, storage } = await openStore();
    const pet = await storage.pets.add(REX);
    const other = await connect(url);
    await other.query(`BEGIN; ${TAKE_ORDER}`);
    const writing = storage.idempotentChanges.replace({ ...pet, ...MAX }, pet.id, by('a'));
    await untilBlocked(other);
    await other.query(`INSERT INTO idempotency_records VALUES ('1', 'a', 7, ${Number.MAX_SAFE_INTEGER}, 'other', '{"id":7}');
      COMMIT`);
    expect(await writing).toBeUndefined();
    expect(await storage.pets.find(pet.id)).toEqual(pet);
    const { record } = await storage.idempotentChanges.find(pet.id, by('a'));
    expect(record).toEqual({ request: 'other', pet: undefined });
  });

  test('a record of an older release falls back to the stored pet, and is of no other request', async () => {
    const { url, storage } = await openStore();
    const retry = () => storage.idempotentCreates.add(REX, attemptWith('a'));
    const { pet } = await retry();
    const other = await connect(url);
    await other.query('UPDATE idempotency_records SET request = NULL, response = NULL');
    expect(await retry()).toEqual({ pet, isReplay: true });
    const { record } = await storage.idempotentChanges.find(pet.id, by('a'));
    expect(record).toEqual({ request: undefined, pet: undefined });
    await storage.changes.remove(pet.id, pet.id);
    await expect(retry()).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });

  test('a record that an older release has renewed, beside a newer one, is of the pet of that release', async () => {
    const { url, storage } = await openStore();
    await storage.idempotentCreates.add(MAX, attemptWith('a'));
    await (await connect(url)).query(`${insertPet({ id: 7n })} UPDATE idempotency_records SET pet_id = 7`);
    const replayed = await storage.idempotentCreates.add(REX, attemptWith('a'));
    expect(replayed).toEqual({ pet: { id: 7n, ...REX }, isReplay: true });
  });

  test.each([
    ['UPDATE', ({ changes }: Storage) => changes.replace({ id: 1n, ...MAX }, 1n)],
    ['UPDATE', (storage: Storage) => storage.idempotentChanges.replace({ id: 1n, ...MAX }, 1n, by('a'))],
    ['DELETE', ({ changes }: Storage) => changes.remove(1n, 1n)],
  ])('a write whose %s a trigger of the operator drops is not confirmed', async (statement, write) => {
    const { url, storage } = await openStore();
    const pet = await storage.pets.add(REX);
    await (
      await connect(url)
    ).query(`CREATE FUNCTION drop_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER drop_all BEFORE ${statement} ON pets FOR EACH ROW EXECUTE FUNCTION drop_row()`);
    await expect(write(storage)).rejects.toMatchObject({ code: 'internal_error' });
    expect(await walk(storage)).toEqual([pet]);
    expect((await storage.changes.find(pet.id))?.revision).toBe(pet.id);
    expect(await storage.idempotencyRecords.count()).toBe(0);
  });

  test('another epoch is drawn for a store that other programs have restored', async () => {
    const { storage } = await openStore();
    const epochs = new Set<string>();
    for (let count = 0; count < 3; count += 1) {
      epochs.add((await storage.changes.list({ limit: 1 })).epoch);
      await storage.changes.beginEpoch?.();
    }
    expect(epochs.size).toBe(3);
  });

  test('after changes and removals, nothing is wrong, and the last number is never assigned again', async () => {
    const { url, storage } = await openStore();
    const [pet, other] = [await storage.pets.add(REX), await storage.pets.add(REX)];
    await storage.changes.remove(other.id, other.id);
    const revision = (await storage.changes.replace({ ...pet, ...MAX }, pet.id)) ?? 0n;
    const examine = async (store: string) => {
      const { pets, problems } = await examinePostgresStore(store);
      return { pets, errors: problems.filter(({ severity }) => severity === 'error') };
    };
    expect(await examine(url)).toEqual({ pets: 1, errors: [] });
    // As after a logical replication, which copies no sequence.
    await (await connect(url)).query("SELECT setval('pets_id_seq', 2)");
    expect((await examine(url)).errors).toMatchObject([
      { message: expect.stringContaining('pets_id_seq is behind the ids') },
    ]);
    expect((await (await openStorage(url)).pets.add(REX)).id > revision).toBe(true);
    const read = (await storage.changes.list({ limit: 9 })).versions;
    expect(read.map(({ id }) => id)).toEqual([other.id, pet.id, revision + 1n]);
  });
});
