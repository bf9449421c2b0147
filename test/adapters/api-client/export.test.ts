import { expect, test } from 'vitest';
import { createAnimalStore } from '../../../src/library/index.ts';
import { withRequired } from '../../support/pets.ts';
import { startServer } from '../../support/server.ts';

test('an export reads all pages', async () => {
  const { store: direct, origin, key } = await startServer('memory');
  const expected: unknown[] = [];
  for (let count = 0; count < 250; count++)
    expected.push(await direct.createPet(withRequired({ name: `pet ${count}`, categoryId: count })));
  const store = await createAnimalStore({ database: `${origin}/v1/`, apiKey: key });
  const batches: (readonly unknown[])[] = [];
  for await (const batch of store.exportPets()) batches.push(batch);
  expect(batches.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(batches.flat()).toEqual(expected);
});
