import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { examinePostgresStore, openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { ChangePet } from '../../../src/application/change-pet.ts';
import type { Caller } from '../../../src/application/ports/idempotent-creates.ts';
import { RemovePet } from '../../../src/application/remove-pet.ts';
import { importPets, inBatches } from '../../../src/testing/fixtures/transfers.ts';
import { stopClock } from '../../support/clock.ts';
import { IS_SHORT } from '../../support/extent.ts';
import { numberedChange } from '../../support/pets.ts';
import {
  describePostgres,
  openClient,
  type PostgresServer,
  startPostgres,
} from '../../support/postgres/index.ts';
import { attemptWith, countOf, MAX, openStorage, REX, withSetting, withTimeout } from './database.ts';

const about = { name: 'ci', prefix: 'x', createdAt: 1 };
const UNKNOWN = /it is unknown whether this was stored$/;

describePostgres('the durability of PostgreSQL', () => {
  let server: PostgresServer;
  let admin: Client;

  beforeAll(async () => {
    server = await startPostgres({ lc_messages: 'C' });
    admin = await openClient(server.url);
    await admin.query('SET synchronous_commit = local');
  });

  afterAll(async () => {
    await admin?.end();
    await server?.close();
  });

  /**
   * Changes a setting of the whole server. Commits wait for a standby only when the checkpointer has read the setting too,
   * which it does before it makes a checkpoint.
   */
  async function set(name: string, value: string): Promise<void> {
    await admin.query(`ALTER SYSTEM SET ${name} = '${value}'`);
    await admin.query('SELECT pg_reload_conf()');
    const isSet = async () =>
      (await admin.query('SELECT setting FROM pg_settings WHERE name = $1', [name])).rows;
    await expect.poll(isSet).toEqual([{ setting: value }]);
    await admin.query('CHECKPOINT');
  }

  /** Ends the wait of each commit for its standby. */
  async function endWaits(end: 'pg_cancel_backend' | 'pg_terminate_backend'): Promise<void> {
    const sql = `SELECT ${end}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
    await expect.poll(async () => (await admin.query(sql)).rowCount).toBeGreaterThan(0);
  }

  test.each([
    ['pg_cancel_backend', 'notice'],
    ['pg_terminate_backend', 'notice'],
    ['pg_cancel_backend', 'error'],
  ] as const)(
    'a commit that no standby confirms has an unknown outcome after %s, for a role that receives each %s',
    async (end, level) => {
      await admin.query(`ALTER ROLE postgres SET client_min_messages = ${level}`);
      const storage = await openStorage(withTimeout(server.url, 10_000));
      await admin.query('TRUNCATE pets, api_keys, idempotency_records');
      await set('synchronous_standby_names', 'nobody');
      const writes = {
        create: () => storage.pets.add(REX),
        'create with a key': () => storage.idempotentCreates.add(MAX, attemptWith('key')),
        'first key': () => storage.apiKeys.addFirst('first key', about),
        'further key': () => storage.apiKeys.add('further key', about),
      };
      for (const [name, write] of Object.entries(writes)) {
        const outcome = expect(write(), name).rejects.toThrow(UNKNOWN);
        await endWaits(end);
        await outcome;
      }
      // Each transaction was committed on this server.
      expect([await countOf(admin, REX), await countOf(admin, MAX)]).toEqual([1, 1]);
      await set('synchronous_standby_names', '');
      await expect.poll(() => storage.pets.add(REX).catch(() => undefined)).toMatchObject(REX);
      const replay = await storage.idempotentCreates.add(MAX, attemptWith('key'));
      expect(replay.isReplay).toBe(true);
      await storage.check();
    },
  );

  test('a retry, and a repeated change or removal, are confirmed only when a standby has what they repeat', async () => {
    const { pets, ...ports } = await openStorage(withTimeout(server.url, 10_000));
    await admin.query('TRUNCATE pets, idempotency_records, pet_revisions');
    const [{ id: changed }, { id: removed }] = [await pets.add(REX), await pets.add(REX)];
    const change = (caller?: Caller) => new ChangePet(ports).execute(changed, numberedChange(2), '*', caller);
    const remove = (caller?: Caller) => new RemovePet(ports).execute(removed, '*', caller);
    await set('synchronous_standby_names', 'nobody');
    for (const [key, write] of Object.entries({ change, remove }))
      for (const caller of [{ caller: '1', key }, { caller: '1', key }, undefined]) {
        const outcome = expect(write(caller)).rejects.toThrow(UNKNOWN);
        await endWaits('pg_cancel_backend');
        await outcome;
      }
    await set('synchronous_standby_names', '');
    expect(await change({ caller: '1', key: 'change' })).toMatchObject({ isReplay: true });
  });

  test.each(['notice', 'error'])(
    'an import that no standby confirms has an unknown outcome: %s',
    async (level) => {
      const url = withSetting(withTimeout(server.url, 10_000), 'client_min_messages', level);
      const storage = await openStorage(url);
      await admin.query('TRUNCATE pets');
      await set('synchronous_standby_names', 'nobody');
      const importing = expect(importPets(storage, inBatches([MAX]))).rejects.toThrow(UNKNOWN);
      await endWaits('pg_cancel_backend');
      await importing;
      expect(await countOf(admin, MAX)).toBe(1);
      await set('synchronous_standby_names', '');
    },
  );

  test('a commit that no standby confirms fails at its deadline, and is not cancelled', async () => {
    const storage = await openStorage(withTimeout(server.url, 10_000));
    await admin.query('TRUNCATE pets');
    const { id } = await storage.apiKeys.add('key', about);
    await storage.idempotentCreates.add(REX, { ...attemptWith('ended'), validFor: -1 });
    await admin.query('TRUNCATE pets');
    await set('synchronous_standby_names', 'nobody');
    const clock = stopClock();
    // Background writes do not wait for a standby, so they leave the connections to the reads.
    await storage.apiKeys.setLastUsedOn(id, 86_400_000);
    expect(await storage.idempotencyRecords.removeRecords(10)).toBe(1);
    expect(await storage.apiKeys.find('key')).toMatchObject({ lastUsedOn: 86_400_000 });
    const adding = storage.pets.add(REX);
    // Writes that change no pet do not take the connections from the reads, either.
    const records = ['a', 'b'].map((key) =>
      storage.idempotentChanges.record(1n, undefined, { ...attemptWith(key), request: 'nothing' }),
    );
    const recording = Promise.allSettled(records);
    const waiting = () => admin.query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    await expect.poll(async () => (await waiting()).rowCount).toBe(1);
    const unknown = { code: 'storage_unavailable', message: expect.stringMatching(UNKNOWN) };
    await expect(clock.passUntil(adding)).rejects.toMatchObject(unknown);
    await recording;
    expect((await waiting()).rowCount).toBe(1);
    expect(await storage.pets.list({ limit: 1 })).toMatchObject({ pets: [], more: false });
    await expect(clock.passUntil(storage.check())).rejects.toMatchObject({ reason: 'not_responding' });
    await set('synchronous_standby_names', '');
    await expect.poll(() => storage.check().catch((error: Error) => error)).toBeUndefined();
    expect((await storage.pets.list({ limit: 10 })).pets).toHaveLength(1);
  });

  test('commits that a crash can lose cause a warning for each setting', async () => {
    const warnings: string[] = [];
    const options = { observer: { onWarning: (message: string) => warnings.push(message) } };
    await openStorage(server.url, options);
    expect(warnings).toEqual([]);
    expect(await examinePostgresStore(server.url)).toMatchObject({ exists: true, problems: [] });
    const names = ['fsync', 'full_page_writes', 'synchronous_commit'];
    for (const name of names) await admin.query(`ALTER SYSTEM SET ${name} = off`);
    await admin.query('SELECT pg_reload_conf()');
    await expect.poll(async () => (await admin.query('SHOW fsync')).rows).toEqual([{ fsync: 'off' }]);
    await openStorage(server.url, options);
    const loss = 'a crash of the database server can lose acknowledged pets';
    const messages = names.map((name) => `${name} is off: ${loss}`);
    expect(warnings.toSorted()).toEqual(messages);
    const { problems } = await examinePostgresStore(server.url);
    expect(problems).toHaveLength(3);
    for (const message of messages) expect(problems).toContainEqual({ severity: 'warning', message });
    await admin.query('ALTER SYSTEM SET synchronous_commit = local');
    await set('synchronous_standby_names', 'nobody');
    const warning = { severity: 'warning', message: `synchronous_commit is local: ${loss}` };
    expect((await examinePostgresStore(server.url)).problems).toContainEqual(warning);
  });

  test('a standby is refused by the start, by doctor, and by a storage whose server has become one', {
    skip: IS_SHORT,
  }, async () => {
    await admin.query('ALTER SYSTEM RESET ALL');
    await admin.query('SELECT pg_reload_conf()');
    const storage = await openStorage(server.url);
    const { rows } = await admin.query('SHOW data_directory');
    await admin.end();
    await server.stop('fast');
    writeFileSync(join(rows[0].data_directory, 'standby.signal'), '');
    await server.start();
    const message = expect.stringMatching(/the database server is a standby: the store needs the primary$/);
    const refused = { code: 'storage_unavailable', reason: 'read_only', message };
    for (const call of [
      () => openPostgresStorage(server.url),
      () => storage.pets.find(1n),
      () => storage.pets.add(REX),
      () => importPets(storage, inBatches([])),
    ])
      await expect(call()).rejects.toMatchObject(refused);
    const { problems } = await examinePostgresStore(server.url);
    expect(problems).toMatchObject([{ severity: 'error', message }]);
  });
});
