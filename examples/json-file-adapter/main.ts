/** Opens a store over the adapter, and serves the API over the store: `node main.ts pets.json`. */

import { CreatePet, createAnimalStore } from 'animal-store';
import { createServer } from 'animal-store/http';
import { MemoryApiKeyRepository } from 'animal-store/memory';
import { openJsonFile } from './json-file.ts';

const pets = await openJsonFile(process.argv[2] ?? 'pets.json');

// A single use case needs only its port.
await new CreatePet(pets).execute({ name: 'Rex', categoryId: 7n });

// A whole store also needs API keys. These exist in memory only.
const store = await createAnimalStore({
  storage: {
    pets,
    apiKeys: new MemoryApiKeyRepository(),
    check: async () => {},
    close: () => pets.close(),
  },
});
const { key } = await store.apiKeys.create('me');
const server = createServer(store);
const url = await server.listen(0, '127.0.0.1');

const response = await fetch(`${url}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } });
console.log(await response.text());
await server.stop(1000);
await store.close();
