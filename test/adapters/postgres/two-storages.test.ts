import { expect, test } from 'vitest';
import { insertPet } from '../../support/pets.ts';
import { connect, describePostgres, newDatabaseUrl } from '../../support/postgres/index.ts';
import { labelOf, named, openStorage } from './database.ts';

describePostgres('two storages on one PostgreSQL database', () => {
  test('a page has each pet that the other one has acknowledged, whatever other transactions do', async () => {
    const url = await newDatabaseUrl();
    const [writer, reader] = [await openStorage(url), await openStorage(url)];
    const other = await connect(url);
    const open = await connect(url);
    await open.query('BEGIN');
    await open.query(insertPet(named('open')));
    const names = async () => (await reader.pets.list({ limit: 1000 })).pets.map(labelOf);
    const expected: string[] = [];
    for (let count = 0; count < 12; count++) {
      // The page is cached after reads of equal versions.
      for (let times = 0; times < 3; times++) expect(await names()).toEqual(expected);
      if (count % 3 === 0) {
        await other.query('BEGIN');
        await other.query(insertPet(named('rolled back')));
        await names();
        await other.query('ROLLBACK');
      }
      const reading = names();
      await writer.pets.add(named(`${count}`));
      expected.push(`${count}`);
      await reading;
      expect(await names()).toEqual(expected);
    }
    await open.query('COMMIT');
    expect((await names()).toSorted()).toEqual([...expected, 'open'].toSorted());
  });
});
