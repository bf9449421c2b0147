// CommonJS in TypeScript: the compiler turns the import into a call of require().
import { createAnimalStore, type Pet } from 'animal-store';

async function main(): Promise<void> {
  const store = await createAnimalStore({ database: 'memory:' });
  const rex: Pet = await store.createPet({ name: 'Rex', categoryId: 7n });
  if (rex.id === 1n) console.log('done');
  await store.close();
}

void main();
