import { expect, test } from 'vitest';
import type { TransferOptions } from '../../../src/application/ports/pet-transfer.ts';
import type { NewPet, Pet } from '../../../src/domain/pet.ts';
import { newPetJson } from '../../../src/domain/pet-json.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { importPets } from '../../../src/testing/fixtures/transfers.ts';
import { connect, describePostgres, newDatabaseUrl } from '../../support/postgres/index.ts';
import { hasAttributes, openStorage, openStore, REX, untilBlocked, walk } from './database.ts';
import { startProxy } from './proxy.ts';

/** More pets than one statement of an export reads. */
const PETS = 2500;
const BATCH = 250;

/** More pets than one statement of an import stores. */
const MANY = 20_500;

const petAt = (index: number): NewPet => samplePet(`pet ${index}`, index);

async function* batches(
  beforeBatch: (index: number) => unknown = () => {},
  { count = PETS, size = BATCH } = {},
): AsyncGenerator<readonly NewPet[]> {
  for (let start = 0; start < count; start += size) {
    await beforeBatch(start / size);
    const length = Math.min(size, count - start);
    yield Array.from({ length }, (_, index) => petAt(start + index));
  }
}

describePostgres('imports and exports of many pets on PostgreSQL', () => {
  test('an import stores all pets in the order of the batches, and an export returns them', async () => {
    const { storage } = await openStore();
    const all = batches(undefined, { count: MANY, size: 5000 });
    expect(await importPets(storage, all)).toBe(MANY);
    const exported: Pet[] = [];
    for await (const batch of storage.transfer.exportPets()) exported.push(...batch);
    const expected = Array.from({ length: MANY }, (_, index) => newPetJson(petAt(index)));
    expect(exported.map(newPetJson)).toEqual(expected);
    expect((await storage.pets.add(REX)).id).toBeGreaterThan(exported.at(-1)?.id as bigint);
  });

  test('an import whose pets a trigger drops stores nothing', async () => {
    const { url, storage } = await openStore();
    await (await connect(url)).query(`CREATE FUNCTION drop_pet() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF ${hasAttributes(petAt(7), 'NEW')} THEN RETURN NULL; END IF; RETURN NEW; END $$;
      CREATE TRIGGER dropping BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION drop_pet()`);
    await expect(importPets(storage, batches())).rejects.toThrow('has dropped a row: nothing was stored');
    expect(await walk(storage)).toEqual([]);
  });

  test('a slow source or reader holds no transaction, and an import is one transaction', async () => {
    const { url, storage } = await openStore();
    const admin = await connect(url);
    const transactions = async () =>
      (
        await admin.query(`SELECT query FROM pg_stat_activity WHERE application_name = 'animal-store'
          AND datname = current_database() AND xact_start IS NOT NULL`)
      ).rows;
    const source = batches(async () => expect(await transactions()).toEqual([]));
    expect(await importPets(storage, source)).toBe(PETS);
    expect((await admin.query("SELECT 1 FROM pg_class WHERE relname = 'staged'")).rowCount).toBe(0);
    let exported = 0;
    for await (const pets of storage.transfer.exportPets()) {
      expect(await transactions()).toEqual([]);
      if (exported === 0) await storage.pets.add(REX);
      exported += pets.length;
    }
    expect(exported).toBe(PETS);
  });

  test('a close ends calls that wait for their own connection, or for the database', async () => {
    const { url, storage } = await openStore();
    const holder = await connect(url);
    await holder.query('BEGIN; LOCK TABLE pets');
    const closed = { code: 'storage_unavailable', message: 'the store is closed' };
    const exporting = storage.transfer.exportPets()[Symbol.asyncIterator]().next();
    const blocked = expect(exporting).rejects.toMatchObject(closed);
    await untilBlocked(holder);
    const connecting = expect(storage.idempotencyRecords.count()).rejects.toMatchObject(closed);
    await storage.close();
    await Promise.all([blocked, connecting]);
  });

  test('a cut connection: nothing is stored, and the next import works', async () => {
    const url = await newDatabaseUrl();
    const proxy = await startProxy(url);
    const storage = await openStorage(proxy.url);
    const importing = (all: ReturnType<typeof batches>, options: Partial<TransferOptions> = {}) =>
      expect(importPets(storage, all, options)).rejects;
    const unavailable = { code: 'storage_unavailable' };
    await importing(batches(), { onProgress: () => proxy.cutAll() }).toMatchObject(unavailable);
    expect(await walk(storage)).toEqual([]);
    expect(await importPets(storage, batches())).toBe(PETS);
    expect(await walk(storage, 1000)).toHaveLength(PETS);
    const tables = `SELECT count(*)::int AS count FROM pg_class WHERE relname = 'staged'`;
    const admin = await connect(url);
    await expect.poll(async () => (await admin.query(tables)).rows[0].count).toBe(0);
  });
});
