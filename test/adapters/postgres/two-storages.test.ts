import { expect, test } from 'vitest';
import { numberedPet, numberOf } from '../../../src/testing/fixtures/pets.ts';
import { insertPet } from '../../support/pets.ts';
import { connect, describePostgres, newDatabaseUrl } from '../../support/postgres/index.ts';
import { openStorage } from './database.ts';

describePostgres('two storages on one PostgreSQL database', () => {
  test('a page has each pet that the other one has acknowledged, whatever other transactions do', async () => {
    const url = await newDatabaseUrl();
    const [writer, reader] = [await openStorage(url), await openStorage(url)];
    const other = await connect(url);
    const open = await connect(url);
    await open.query('BEGIN');
    await open.query(insertPet(numberedPet(90n)));
    const numbers = async () => (await reader.pets.list({ limit: 1000 })).pets.map(numberOf);
    const expected: bigint[] = [];
    for (let count = 0n; count < 12n; count++) {
      // The page is cached after reads of equal versions.
      for (let times = 0; times < 3; times++) expect(await numbers()).toEqual(expected);
      if (count % 3n === 0n) {
        await other.query('BEGIN');
        await other.query(insertPet(numberedPet(91n)));
        await numbers();
        await other.query('ROLLBACK');
      }
      const reading = numbers();
      await writer.pets.add(numberedPet(count));
      expected.push(count);
      await reading;
      expect(await numbers()).toEqual(expected);
    }
    await open.query('COMMIT');
    expect(new Set(await numbers())).toEqual(new Set([...expected, 90n]));
  });
});
