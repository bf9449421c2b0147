/** Registers the contract suites of `src/testing`, which contain the assertions, on PostgreSQL. */

import { openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { describePostgres, newDatabaseUrl, openClient } from '../../support/postgres/index.ts';
import { testReusedStores } from '../../support/reused-stores.ts';

describePostgres('PostgreSQL', () => {
  testReusedStores('on PostgreSQL', {
    newPlace: newDatabaseUrl,
    open: (url) => openPostgresStorage(url),
    async execute(url, sql) {
      const client = await openClient(url);
      await client.query(sql);
      await client.end();
    },
    emptying: 'TRUNCATE pets, pet_revisions, api_keys, idempotency_records RESTART IDENTITY',
    recordEnd: 'ends_at',
  });
});
