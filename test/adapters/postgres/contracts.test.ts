import { openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { Opened } from '../../../src/testing/index.ts';
import { testContracts } from '../../support/contracts.ts';
import { describePostgres, newDatabaseUrl, openClient } from '../../support/postgres/index.ts';

describePostgres('PostgreSQL', () => {
  testContracts('on PostgreSQL', <Port>(portOf: (storage: Storage) => Port) => {
    const urls = new WeakMap<Opened<Port>, string>();
    const openAt = async (url: string): Promise<Opened<Port>> => {
      const storage = await openPostgresStorage(url);
      const opened = { port: portOf(storage), close: () => storage.close() };
      urls.set(opened, url);
      return opened;
    };
    const openAgain = (opened: Opened<Port>) => openAt(urls.get(opened) ?? '');
    return {
      open: async () => openAt(await newDatabaseUrl()),
      reopen: openAgain,
      openSecond: openAgain,
      async moveClock(opened: Opened<Port>, milliseconds: number) {
        const client = await openClient(urls.get(opened) ?? '');
        await client.query(`UPDATE idempotency_records SET ends_at = ends_at - ${milliseconds}`);
        await client.end();
      },
    };
  });
});
