/** A server works with the privileges that docs/postgresql.md names. */

import { expect, onTestFinished, test } from 'vitest';
import { connect, describePostgres, newDatabaseUrl, newUserUrl } from '../../support/postgres/index.ts';
import { NO_DUPLICATES, named, newStoreUrl, openStorage, REX } from './database.ts';

/** Creates a store, and a user with privileges on it. Returns the URL for this user. */
async function urlOfUser(...privileges: readonly string[]): Promise<string> {
  const url = await newStoreUrl();
  const userUrl = new URL(await newUserUrl(url, 'USAGE'));
  const { username, pathname } = userUrl;
  const admin = await connect(url);
  const { rows } = await admin.query<{ schema: string }>('SELECT current_schema() AS schema');
  for (const privilege of privileges) {
    await admin.query(`GRANT ${privilege.replace('{schema}', rows[0]?.schema ?? '')} TO ${username}`);
  }
  await admin.query(`REVOKE TEMPORARY ON DATABASE ${pathname.slice(1)} FROM PUBLIC`);
  // Test files that run in one process share the database.
  onTestFinished(
    async () => void (await admin.query(`GRANT TEMPORARY ON DATABASE ${pathname.slice(1)} TO PUBLIC`)),
  );
  return userUrl.href;
}

const DATA = 'SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema}';
const SEQUENCES = 'USAGE ON ALL SEQUENCES IN SCHEMA {schema}';

describePostgres('the privileges of a user of PostgreSQL', () => {
  test('suffice for creates, reads and keys', async () => {
    const url = await urlOfUser(DATA, SEQUENCES);
    const storage = await openStorage(url);
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

  test('an import also needs TEMPORARY, and with ids UPDATE on the sequence', async () => {
    const pets = async function* () {
      yield [{ id: 5n, ...REX }];
    };
    const url = await urlOfUser(DATA, SEQUENCES, 'UPDATE ON SEQUENCE pets_id_seq');
    const storage = await openStorage(url);
    await expect(storage.transfer.importPets(pets(), NO_DUPLICATES)).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: 'the database user lacks a privilege (42501)',
    });
    const { username, pathname } = new URL(url);
    const admin = await connect(await newDatabaseUrl());
    await admin.query(`GRANT TEMPORARY ON DATABASE ${pathname.slice(1)} TO ${username}`);
    expect(await storage.transfer.importPets(pets(), NO_DUPLICATES)).toBe(1);
    expect((await storage.pets.add(named('Max'))).id).toBeGreaterThan(5n);
  });
});
