/** A server works with the privileges that docs/operations.md names. */

import { Client } from 'pg';
import { describe, expect, test } from 'vitest';
import { openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts';

/** Creates a store, and a user with privileges on it. Returns the URL for this user. */
async function urlOfUser(...privileges: readonly string[]): Promise<string> {
  const url = await newDatabaseUrl();
  await (await openPostgresStorage(url)).close();
  const user = new URL(url).pathname.slice(1);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`CREATE ROLE ${user} LOGIN PASSWORD 'hunter2'`);
    for (const privilege of privileges) await client.query(`GRANT ${privilege} TO ${user}`);
    await client.query(`REVOKE TEMPORARY ON DATABASE ${user} FROM PUBLIC`);
  } finally {
    await client.end();
  }
  return Object.assign(new URL(url), { username: user, password: 'hunter2' }).href;
}

const DATA = 'SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public';
const SEQUENCES = 'USAGE ON ALL SEQUENCES IN SCHEMA public';
const options = { onDuplicateId: () => {} };

describe.skipIf(!canRunPostgres)(`the privileges of a user of PostgreSQL${postgresNote}`, () => {
  test('suffice for creates, reads and keys', async () => {
    const storage = await openPostgresStorage(await urlOfUser(DATA, SEQUENCES));
    const { id } = await storage.pets.add(samplePet('Rex'));
    expect(await storage.pets.find(id)).toMatchObject({ name: 'Rex' });
    const attempt = { caller: '1', key: 'a', at: 1, validFrom: 0 };
    expect((await storage.idempotentCreates.add(samplePet('Rex'), attempt)).isReplay).toBe(false);
    expect(await storage.idempotentCreates.removeRecords(2, 10)).toBe(1);
    const { id: keyId } = await storage.apiKeys.add('key', {
      name: 'a',
      prefix: 'p',
      createdAt: 1,
      expiresAt: undefined,
    });
    expect(await storage.apiKeys.revoke(keyId, 2)).toMatchObject({ revokedAt: 2 });
    await storage.check();
    await storage.close();
  });

  test('an import also needs TEMPORARY, and with ids UPDATE on the sequence', async () => {
    const pets = async function* () {
      yield [{ id: 5n, ...samplePet('Rex') }];
    };
    const refused = await openPostgresStorage(await urlOfUser(DATA, SEQUENCES));
    await expect(refused.transfer.importPets(pets(), options)).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: 'the database user lacks a privilege (42501)',
    });
    await refused.close();
    const url = await urlOfUser(DATA, SEQUENCES, 'UPDATE ON SEQUENCE pets_id_seq');
    const owner = new Client({
      connectionString: Object.assign(new URL(url), { username: 'postgres' }).href,
    });
    await owner.connect();
    await owner.query(`GRANT TEMPORARY ON DATABASE ${new URL(url).username} TO ${new URL(url).username}`);
    await owner.end();
    const storage = await openPostgresStorage(url);
    expect(await storage.transfer.importPets(pets(), options)).toBe(1);
    expect((await storage.pets.add(samplePet('Max'))).id).toBeGreaterThan(5n);
    await storage.close();
  });
});
