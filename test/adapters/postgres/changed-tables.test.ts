/** Another program changes tables of a store. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { examinePostgresStore, openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import {
  canRunPostgres,
  connect,
  newDatabaseUrl,
  newUserUrl,
  postgresNote,
} from '../../support/postgres/index.ts';
import { openStore, REX } from './database.ts';
import { refusalOf } from './refusal.ts';

const FUNCTION = `CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS
  'BEGIN DELETE FROM pets WHERE id = NEW.id; RETURN NEW; END'`;

/** Each change, and the part of the message that names it. Each lets at least some writes go on. */
const CHANGES: readonly [sql: string, named: string][] = [
  [
    `${FUNCTION}; CREATE TRIGGER lose AFTER INSERT ON pets FOR EACH ROW EXECUTE FUNCTION lose()`,
    'unknown trigger: DROP TRIGGER lose ON pets removes it',
  ],
  [
    'CREATE RULE skip AS ON UPDATE TO api_keys DO INSTEAD NOTHING',
    'unknown rule: DROP RULE skip ON api_keys removes it',
  ],
  ['ALTER TABLE pets RENAME TO other; CREATE VIEW pets AS SELECT * FROM other', 'pets is not a table'],
  [
    'ALTER TABLE idempotency_records DROP CONSTRAINT idempotency_records_pkey',
    'no index: unique on idempotency_records (caller, key)',
  ],
  ['ALTER TABLE api_keys DROP CONSTRAINT api_keys_hash_key', 'no index: unique on api_keys (hash)'],
  ['DROP INDEX pets_by_status', 'no index: any on pets (status, id)'],
  ['ALTER TABLE pets DROP CONSTRAINT pets_rules', 'no constraint: pets_rules of pets'],
  ['ALTER TABLE api_keys ALTER caller_id SET DEFAULT 1', 'no column: caller_id bigint in api_keys'],
  ['ALTER TABLE pets ALTER name TYPE character(300)', 'no column: name text not null in pets'],
  ['ALTER TABLE pets ALTER id DROP IDENTITY', 'no column: id bigint not null identity in pets'],
];

describe.skipIf(!canRunPostgres)(`changed tables${postgresNote}`, () => {
  test.each(CHANGES)('%s', async (sql, named) => {
    const { url, storage } = await openStore();
    await storage.pets.add(REX);
    await storage.check();
    const other = await connect(url);
    await other.query(sql);
    const message = `another program has changed the tables of the store (${named})`;
    // A check uses the test of an earlier one for half a second.
    await sleep(600);
    await expect(storage.check()).rejects.toMatchObject({ reason: 'damaged', message });
    expect(await refusalOf(url)).toContain(message);
    expect((await examinePostgresStore(url)).problems).toContainEqual({ severity: 'error', message });
  });

  test('rows that the server hides from the user of the store', async () => {
    const url = await newDatabaseUrl();
    const userUrl = await newUserUrl(url, 'ALL');
    await (await openPostgresStorage(userUrl)).close();
    const other = await connect(url);
    await other.query('ALTER TABLE pets ENABLE ROW LEVEL SECURITY');
    await (await openPostgresStorage(userUrl)).close();
    await other.query('ALTER TABLE pets FORCE ROW LEVEL SECURITY');
    expect(await refusalOf(userUrl)).toContain('(the security of rows hides rows of pets)');
  });

  test('columns, indexes, views and tables for the own use of an operator are accepted', async () => {
    const { url, storage } = await openStore();
    const other = await connect(url);
    await other.query(`ALTER TABLE pets ADD COLUMN note text; CREATE INDEX by_name ON pets (name);
      CREATE VIEW sold AS SELECT * FROM pets WHERE status = 'sold';
      CREATE TABLE notes (id bigint REFERENCES pets (id) ON DELETE CASCADE);
      CREATE PUBLICATION audit FOR TABLE pets; DROP INDEX pets_by_status; CREATE INDEX by_status ON pets (status, id) INCLUDE (name)`);
    await storage.check();
    await (await openPostgresStorage(url)).close();
    const { problems } = await examinePostgresStore(url);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  test('the tables of a newer release are not compared while an older one runs', async () => {
    const { url, storage } = await openStore();
    const other = await connect(url);
    await other.query('UPDATE animal_store_schema SET version = version + 1; DROP INDEX pets_by_status');
    await storage.check();
  });
});
