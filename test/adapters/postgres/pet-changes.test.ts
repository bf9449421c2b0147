import { expect, test } from 'vitest';
import { examinePostgresStore } from '../../../src/adapters/postgres/index.ts';
import { TAKE_ORDER } from '../../../src/adapters/postgres/pets.ts';
import { testDatabase } from '../../support/database-tests.ts';
import { connect, describePostgres } from '../../support/postgres/index.ts';
import * as db from './database.ts';

const { MAX, attemptWith, openStorage, openStore, REX, untilBlocked } = db;
const by = (key: string) => ({ ...attemptWith(key), request: 'change' });

describePostgres('changes of pets on PostgreSQL', () => {
  testDatabase({
    async open() {
      const { url, storage } = await openStore();
      const execute = async (sql: string) => (await connect(url)).query(sql);
      return { storage, execute, examine: () => examinePostgresStore(url) };
    },
    lastIdIs: (id) => `SELECT setval('pets_id_seq', ${id})`,
    dropping: (event) =>
      `CREATE FUNCTION drop_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
      CREATE TRIGGER dropping BEFORE ${event} FOR EACH ROW EXECUTE FUNCTION drop_row()`,
    endRecords: 'UPDATE idempotency_records SET ends_at = 1',
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

  test('after changes and removals, the last number is never assigned again', async () => {
    const { url, storage } = await openStore();
    const [pet, other] = [await storage.pets.add(REX), await storage.pets.add(REX)];
    await storage.changes.remove(other.id, other.id);
    const revision = (await storage.changes.replace({ ...pet, ...MAX }, pet.id)) ?? 0n;
    // As after a logical replication, which copies no sequence.
    await (await connect(url)).query("SELECT setval('pets_id_seq', 2)");
    const message = expect.stringContaining('pets_id_seq is behind the ids');
    expect((await examinePostgresStore(url)).problems).toContainEqual({ severity: 'error', message });
    expect((await (await openStorage(url)).pets.add(REX)).id > revision).toBe(true);
    const read = (await storage.changes.list({ limit: 9 })).versions;
    expect(read.map(({ id }) => id)).toEqual([other.id, pet.id, revision + 1n]);
  });
});
