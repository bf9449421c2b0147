/** The rules that the tables have, whatever program stores a pet. */

import { expect, test } from 'vitest';
import { insertPet } from '../../support/pets.ts';
import { connect } from '../../support/sqlite.ts';
import { openStorage, REX, temporaryFile } from './temporary-file.ts';

test('a new store has no pet, so that it accepts ids, and refuses pets of other programs that break a rule', async () => {
  const path = temporaryFile();
  const { pets, transfer } = openStorage(path);
  const batches = (async function* () {
    yield [{ ...REX, id: 7n }];
  })();
  await transfer.importPets(batches, { onDuplicateId: () => {} });
  expect(await pets.find(7n)).toBeDefined();
  const db = connect(path);
  for (const broken of [
    { id: 0n },
    { name: '' },
    { name: '🐈'.repeat(256) },
    { name: 'a\0b' },
    { status: 'lost' as 'sold' },
  ]) {
    expect(() => db.prepare(insertPet({ id: 8n, ...broken })).run()).toThrow(
      /CHECK constraint failed|unrecognized token/,
    );
  }
  db.exec(insertPet({ id: 8n, name: '🐈'.repeat(255), status: 'pending' }));
});
