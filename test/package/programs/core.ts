// Code for browsers and edge runtimes: without the types of Node.js, and with the library of ES2022.
import { createAnimalStore, type Pet } from 'animal-store';
import { openMemoryStorage } from 'animal-store/memory';

export async function run(): Promise<readonly Pet[]> {
  const store = await createAnimalStore({ storage: openMemoryStorage() });
  await store.createPet({ name: 'Rex', categoryId: 7n });
  await store.apiKeys.create('me');
  const pets: Pet[] = [];
  for await (const pet of store.listPets()) pets.push(pet);
  await store.close();
  const other = await createAnimalStore({ database: 'memory:' });
  const { pets: none } = await other.listPage();
  const refused = await createAnimalStore({ database: 'sqlite:./pets.db' }).catch(
    (error: Error) => error.message,
  );
  return none.length === 0 && typeof refused === 'string' && refused.includes('memory:') ? pets : [];
}
