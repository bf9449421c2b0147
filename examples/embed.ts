/** Calls the use cases from your own program, without a server and without API keys. Ids are `bigint`. */

import { CreatePet, ListPets } from 'animal-store';
import { openMemoryStorage } from 'animal-store/memory';

const storage = openMemoryStorage();
const createPet = new CreatePet(storage.pets);
const listPets = new ListPets(storage.pets);

await createPet.execute({ name: 'Rex', categoryId: 7n });
await createPet.execute({ name: 'Минька', categoryId: 2n ** 53n + 1n, status: 'pending' });

const { pets } = await listPets.execute({ status: 'pending' });
for (const { id, name, categoryId } of pets) console.log(`${id}: ${name} in category ${categoryId}`);

await createPet.execute({ name: '', categoryId: 7n }).catch((error) => {
  console.log(`refused: ${error.code}: ${error.message}`);
});
await storage.close();
