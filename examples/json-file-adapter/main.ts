/** Opens a store over the adapter, and serves the API over the store: `node main.js pets.json`, after `tsc`. */

import { createAnimalStore } from 'animal-store';
import { createServer } from 'animal-store/http';
import { MemoryApiKeyRepository } from 'animal-store/memory';
import { openJsonFile } from './json-file.js';

const storage = await openJsonFile(process.argv[2] ?? 'pets.json');
// These keys are lost when the process ends.
const store = await createAnimalStore({ storage: { ...storage, apiKeys: new MemoryApiKeyRepository() } });
await store.createPet({ name: 'Rex', categoryId: 7n }, { idempotencyKey: 'the-first-pet' });

const { key } = await store.apiKeys.create('me');
const server = createServer(store);
const url = await server.listen(0, '127.0.0.1');
const response = await fetch(`${url}/v1/pets`, { headers: { Authorization: `Bearer ${key}` } });
console.log(await response.text());
await server.stop(1000);
await store.close();
