import { describe, expect, test } from 'vitest';
import { openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts';

describe.skipIf(!canRunPostgres)(`the statistics of PostgreSQL${postgresNote}`, () => {
  test('count the reads of both caches, and the connections', async () => {
    const storage = await openPostgresStorage(await newDatabaseUrl());
    await storage.apiKeys.add('key', { name: 'a', prefix: 'p', createdAt: 1, expiresAt: undefined });
    await storage.pets.add(samplePet('Rex'));
    let pages = 0;
    // Other tests write to the same server, so an unchanged page may be read again.
    while (storage.statistics?.().pages?.hits === 0) {
      expect(pages, 'reads until an unchanged page is cached').toBeLessThan(10_000);
      await storage.pets.list({ limit: 20 });
      pages += 1;
    }
    for (let count = 0; count < 3; count++) await storage.apiKeys.find('key');
    expect(storage.statistics?.()).toEqual({
      pages: { hits: 1, misses: pages - 1 },
      keys: { hits: 2, misses: 1 },
      waitingWrites: 0,
      connections: { busy: 0, idle: 1, waiting: 0 },
    });
    await storage.close();
  });
});
