import { expect, test } from 'vitest';
import { createAnimalStore } from '../../../src/library/index.ts';
import { addAll, samplePets } from '../../../src/testing/fixtures/pets.ts';
import { startServer } from '../../support/server.ts';

test('an export reads all pages', async () => {
  const { storage, origin, key } = await startServer('memory');
  const expected = await addAll(storage.pets, samplePets(250));
  const store = await createAnimalStore({ database: `${origin}/v1/`, apiKey: key });
  const batches: (readonly unknown[])[] = [];
  for await (const batch of store.exportPets()) batches.push(batch);
  expect(batches.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(batches.flat()).toEqual(expected);
});
