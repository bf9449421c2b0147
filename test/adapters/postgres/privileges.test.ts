/** A server works with the privileges that docs/postgresql.md names. */

import { expect, onTestFinished, test, vi } from 'vitest';
import { examinePostgresStore } from '../../../src/adapters/postgres/examination.ts';
import { importPets, inBatches } from '../../../src/testing/fixtures/transfers.ts';
import { describePostgres } from '../../support/postgres/index.ts';
import { endConnectionsOf, named, newWriter, openStorage, REX, walk } from './database.ts';
import { refusalOf } from './refusal.ts';

/** Creates a store, and a user who may read and write it, but create no temporary tables. */
async function openAsUser() {
  const { url, username, admin } = await newWriter();
  const ofDatabase = `TEMPORARY ON DATABASE ${new URL(url).pathname.slice(1)}`;
  await admin.query(`REVOKE ${ofDatabase} FROM PUBLIC`);
  // Test files that run in one process share the database.
  onTestFinished(async () => void (await admin.query(`GRANT ${ofDatabase} TO PUBLIC`)));
  return { storage: await openStorage(url), username, admin, ofDatabase };
}

describePostgres('the privileges of a user of PostgreSQL', () => {
  test('suffice for creates, reads and keys', async () => {
    const { storage } = await openAsUser();
    const { id } = await storage.pets.add(REX);
    expect(await storage.pets.find(id)).toMatchObject(REX);
    const attempt = { caller: '1', key: 'a', validFor: -1 };
    expect((await storage.idempotentCreates.add(REX, attempt)).isReplay).toBe(false);
    expect(await storage.idempotencyRecords.removeRecords(10)).toBe(1);
    const about = { name: 'a', prefix: 'p', createdAt: 1, expiresAt: undefined };
    const { id: keyId } = await storage.apiKeys.add('key', about);
    expect(await storage.apiKeys.revoke(keyId, 2)).toMatchObject({ revokedAt: 2 });
    await storage.check();
  });

  test('on the records of idempotency keys are not needed by a store that is opened for reading', async () => {
    const { url, username, admin } = await newWriter();
    await admin.query(`REVOKE ALL ON idempotency_records FROM ${username}`);
    expect(await refusalOf(url)).toContain('the database user lacks a privilege (42501)');
    expect(await walk(await openStorage(url, { readOnly: true }))).toEqual([]);
  });

  test('on the sequences are not needed by a store that is opened for reading', async () => {
    const { store, url, username, admin } = await newWriter();
    await (await openStorage(store)).pets.add(REX);
    await admin.query(`REVOKE ALL ON SEQUENCE pets_id_seq, api_keys_id_seq FROM ${username}`);
    const warnings: string[] = [];
    const observer = { onWarning: (message: string) => warnings.push(message) };
    expect(await walk(await openStorage(url, { readOnly: true, observer }))).toMatchObject([REX]);
    expect(warnings).not.toContainEqual(expect.stringContaining('sequence'));
  });

  test.each(['pets', 'idempotency_records'])(
    'without INSERT on %s, the storage stays not ready',
    async (table) => {
      const { url, username, admin } = await newWriter();
      await admin.query(`REVOKE INSERT ON ${table} FROM ${username}`);
      const warnings: string[] = [];
      const observer = { onWarning: (message: string) => warnings.push(message) };
      const storage = await openStorage(url, { observer });
      const message = `the database user lacks INSERT on ${table}: some writes are refused`;
      expect(warnings).toContain(message);
      expect((await examinePostgresStore(url)).problems).toContainEqual({ severity: 'warning', message });
      const add = () => storage.idempotentCreates.add(REX, { caller: '1', key: 'a', validFor: 1000 });
      await expect(add()).rejects.toMatchObject({ reason: 'not_permitted' });
      await expect(storage.check()).rejects.toMatchObject({ reason: 'not_permitted' });
      await expect(storage.check()).rejects.toMatchObject({ reason: 'not_permitted' });
      await admin.query(`GRANT INSERT ON ${table} TO ${username}`);
      await vi.waitFor(() => storage.check(), { timeout: 10_000 });
      expect(await add()).toMatchObject({ isReplay: false });
    },
  );

  test('UPDATE on the version of the schema: without it, a test write cannot keep the storage from being ready', async () => {
    const { url, username, admin } = await newWriter();
    await admin.query(`REVOKE UPDATE ON animal_store_schema FROM ${username};
      ALTER USER ${username} SET default_transaction_read_only = on`);
    const warnings: string[] = [];
    const storage = await openStorage(url, { observer: { onWarning: (message) => warnings.push(message) } });
    expect(warnings).toContainEqual(expect.stringContaining('lacks UPDATE on animal_store_schema'));
    await expect(storage.check()).rejects.toMatchObject({ reason: 'read_only' });
    await admin.query(`ALTER USER ${username} RESET default_transaction_read_only`);
    await endConnectionsOf(admin, url);
    await vi.waitFor(() => storage.check(), { timeout: 10_000 });
  });

  test('an import also needs TEMPORARY, and with ids UPDATE on the sequence', async () => {
    const pets = () => inBatches([{ id: 5n, ...REX }]);
    const { storage, username, admin, ofDatabase } = await openAsUser();
    await admin.query(`GRANT UPDATE ON SEQUENCE pets_id_seq TO ${username}`);
    const refused = { code: 'storage_unavailable', message: 'the database user lacks a privilege (42501)' };
    await expect(importPets(storage, pets())).rejects.toMatchObject(refused);
    await admin.query(`GRANT ${ofDatabase} TO ${username}`);
    expect(await importPets(storage, pets())).toBe(1);
    expect((await storage.pets.add(named('Max'))).id).toBeGreaterThan(5n);
  });
});
