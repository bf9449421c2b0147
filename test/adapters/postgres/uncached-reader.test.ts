import { describe, expect, test } from 'vitest';
import { clientConfig } from '../../../src/adapters/postgres/config.ts';
import { Connections } from '../../../src/adapters/postgres/connections.ts';
import { Health } from '../../../src/adapters/postgres/health.ts';
import { openPostgresStorage } from '../../../src/adapters/postgres/index.ts';
import { Pages } from '../../../src/adapters/postgres/pages.ts';
import { Reader } from '../../../src/adapters/postgres/reader.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts';

describe.skipIf(!canRunPostgres)(`the reads of a database on several servers${postgresNote}`, () => {
  test('are never from the cache', async () => {
    const url = await newDatabaseUrl();
    const storage = await openPostgresStorage(url);
    await storage.pets.add(samplePet('Rex'));
    const connections = new Connections(clientConfig(url), { max: 2 });
    const reader = new Reader(connections, new Health({}));
    const pages = new Pages(reader, false);
    const query = { limit: 20 };
    const [first, second] = [await pages.list(query), await pages.list(query)];
    expect(first).toEqual(await storage.pets.list(query));
    expect(second).toEqual(first);
    expect(second).not.toBe(first);
    expect(pages.statistics).toEqual({ hits: 0, misses: 2 });
    reader.close();
    await connections.close();
    await storage.close();
  });
});
