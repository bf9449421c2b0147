/** Ids become visible in ascending order. */

import { expect, test } from 'vitest';
import { examinePostgresStore } from '../../../src/adapters/postgres/index.ts';
import { TAKE_ORDER } from '../../../src/adapters/postgres/pets.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import { importPets, inBatches, withoutId } from '../../../src/testing/fixtures/transfers.ts';
import { exercise, History } from '../../../src/testing/index.ts';
import { stopClock } from '../../support/clock.ts';
import { IS_SHORT } from '../../support/extent.ts';
import { connect, describePostgres, newDatabaseUrl } from '../../support/postgres/index.ts';
import * as db from './database.ts';

const { attemptWith, openStorage, openStore, REX, untilBlocked, walk, withTimeout } = db;

/** The longer it takes from an id to its commit, the more pets a follower would miss without an order. */
const SLOW_INSERTS = `
  CREATE FUNCTION pause() RETURNS boolean LANGUAGE plpgsql AS
    $$ BEGIN IF random() < 0.3 THEN PERFORM pg_sleep(0.01 * random()); END IF; RETURN true; END $$;
  ALTER TABLE pets ADD CHECK (pause()) NOT VALID`;

describePostgres('the order of ids on PostgreSQL', () => {
  /** Starts each write while another transaction draws ids. Expects the write to wait, and to draw no id meanwhile. */
  async function expectWaits(url: string, writes: readonly (() => Promise<unknown>)[]): Promise<void> {
    const [observer, holder] = [await connect(url), await connect(url)];
    const sequence = async () => (await observer.query('SELECT last_value FROM pets_id_seq')).rows;
    for (const write of writes) {
      const before = await sequence();
      await holder.query(`BEGIN; ${TAKE_ORDER}`);
      const writing = write();
      await untilBlocked(holder);
      expect(await sequence()).toEqual(before);
      await holder.query('ROLLBACK');
      expect(await writing).toMatchObject(REX);
    }
  }

  test('each create and each change waits for the transaction that draws ids, and draws none meanwhile', async () => {
    const { url, storage } = await openStore();
    const pet = await storage.pets.add(REX);
    const { changes, idempotentChanges: writes } = storage;
    const by = { ...attemptWith('changes'), request: 'change' };
    await expectWaits(url, [
      () => storage.pets.add(REX),
      async () => (await storage.idempotentCreates.add(REX, attemptWith('waits'))).pet,
      async () => (await changes.replace(pet, pet.id)) !== undefined && pet,
      async () => (await writes.replace(pet, (await changes.find(pet.id))?.revision ?? 0n, by)) && pet,
    ]);
  });

  test('an import waits for it, too', async () => {
    const { url, storage } = await openStore();
    const importing = async () => {
      await importPets(storage, inBatches([REX]));
      return (await walk(storage, 1000)).at(-1);
    };
    await expectWaits(url, [importing]);
  });

  test('a lock that is held for too long: creates fail, nothing is stored, reads go on, and the storage is no faulty one', {
    skip: IS_SHORT,
  }, async () => {
    const states: unknown[] = [];
    const observing = { observer: { onStorageState: (fault: unknown) => states.push(fault) } };
    // The server ends the wait for the lock before the deadline, which does not come while the clock stands still.
    stopClock();
    const url = await newDatabaseUrl();
    const storage = await openStorage(withTimeout(url, 1000), observing);
    const { id } = await storage.pets.add(REX);
    await storage.idempotentCreates.add(REX, { ...attemptWith('early'), validFor: -1 });
    const before = await walk(storage, 1000);
    const holder = await connect(url);
    await holder.query(`BEGIN; ${TAKE_ORDER}`);
    const adding = [
      storage.pets.add(REX),
      storage.idempotentCreates.add(REX, attemptWith('late')),
      storage.idempotencyRecords.removeRecords(10),
    ];
    expect(await storage.pets.find(id)).toMatchObject(REX);
    const message =
      'another transaction held a lock of the database for too long, so nothing was stored (55P03)';
    for (const result of await Promise.allSettled(adding))
      expect(result).toMatchObject({ reason: { code: 'storage_unavailable', message } });
    await storage.check();
    expect(await walk(storage, 1000)).toEqual(before);
    await holder.query('ROLLBACK');
    expect(await storage.pets.add(REX)).toMatchObject(REX);
    expect(states).toEqual([]);
  });

  test('imports with and without ids, and creates, never wait for each other in a circle', async () => {
    const empty = await newDatabaseUrl();
    const [one, two, three] = [await openStorage(empty), await openStorage(empty), await openStorage(empty)];
    const pets = Array.from({ length: 5 }, (_, index) => ({ ...REX, id: BigInt(index + 1) }));
    const holder = await connect(empty);
    await holder.query(`BEGIN; ${TAKE_ORDER}`);
    const results = Promise.allSettled([
      importPets(one, inBatches(pets.map(withoutId))),
      importPets(two, inBatches(pets)),
      three.pets.add(REX),
    ]);
    await untilBlocked(holder);
    await holder.query('COMMIT');
    const failures = (await results).filter(({ status }) => status === 'rejected');
    // Only the import of ids can fail, because the store has pets then.
    for (const failure of failures) expect(failure).toMatchObject({ reason: { code: 'invalid_request' } });
    expect(failures.length).toBeLessThan(2);
  });

  test('creates and reads of two storages fit one order when ids come long before their commits', async () => {
    const slow = await newDatabaseUrl();
    const stores = [new AnimalStore(await openStorage(slow)), new AnimalStore(await openStorage(slow))];
    await (await connect(slow)).query(SLOW_INSERTS);
    const history = new History();
    await exercise(history, stores, { calls: 60 });
    const contradiction = history.contradiction();
    expect(contradiction, contradiction).toBeUndefined();
  });

  test('the start and the examination name what the order needs and does not have', async () => {
    const lacking = await db.newStoreUrl();
    const [, schema] = /search_path=(\w+)/.exec(decodeURIComponent(lacking)) ?? [];
    const other = db.withSetting(lacking, 'search_path', `${schema},pg_catalog`);
    const admin = await connect(lacking);
    await admin.query(`ALTER SEQUENCE pets_id_seq CACHE 20;
      CREATE FUNCTION version() RETURNS text LANGUAGE sql AS $$SELECT 'PostgreSQL 15.2-YB-2.25, on x86_64'$$`);
    const warnings: string[] = [];
    await openStorage(other, { observer: { onWarning: (message) => warnings.push(message) } });
    const harm = 'a client that follows the ids of new pets can miss some of them';
    const named = [
      `the sequence pets_id_seq must have the cache size 1 and the increment 1: ${harm}`,
      `the database only speaks the protocol of PostgreSQL: ${harm}`,
    ];
    expect(warnings).toEqual(expect.arrayContaining(named));
    const { problems } = await examinePostgresStore(other);
    expect(problems.map(({ message }) => message)).toEqual(expect.arrayContaining(named));
  });
});
