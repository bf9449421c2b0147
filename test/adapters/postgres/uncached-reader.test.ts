import { describe, expect, test } from 'vitest';
import { clientConfig } from '../../../src/adapters/postgres/config.ts';
import { Connections } from '../../../src/adapters/postgres/connections.ts';
import { groupedCreates } from '../../../src/adapters/postgres/creates.ts';
import { openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { petRepository } from '../../../src/adapters/postgres/pet-repository.ts';
import { newReader } from '../../../src/adapters/postgres/reader.ts';
import { KnownFaults } from '../../../src/adapters/storage-kit/known-faults.ts';
import { PageCache } from '../../../src/adapters/storage-kit/page-cache.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts';

describe.skipIf(!canRunPostgres)(`the reads of a database on several servers${postgresNote}`, () => {
  test('are never from the cache', async () => {
    const url = await newDatabaseUrl();
    const storage = await openPostgresStorage(url);
    await storage.pets.add(samplePet('Rex'));
    const connections = new Connections(clientConfig(url), { max: 2 });
    const faults = new KnownFaults<'read' | 'write'>(['read', 'write'], {});
    const reader = newReader(connections, faults);
    const creates = groupedCreates(connections, faults, {});
    const cache = new PageCache();
    const pets = petRepository(reader, creates, cache, false);
    const query = { limit: 20 };
    const [first, second] = [await pets.list(query), await pets.list(query)];
    expect(first).toEqual(await storage.pets.list(query));
    expect(second).toEqual(first);
    expect(second).not.toBe(first);
    expect(cache.statistics).toEqual({ hits: 0, misses: 2 });
    await connections.close();
    await storage.close();
  });
});
