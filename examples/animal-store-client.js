/**
 * Calls the API with the client of this package, which retries, follows the links from page to page, and keeps every integer
 * exact, as a `bigint`. It needs Node.js 22.12 or newer, Bun, Deno or a browser.
 *
 *     npm install ./animal-store-*.tgz   (made by `npm pack` in a clone)
 *     ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... node examples/animal-store-client.js
 */

import { createAnimalStore } from 'animal-store/client';

const store = await createAnimalStore({
  database: process.env.ANIMAL_STORE_URL ?? 'http://127.0.0.1:3000/v1',
  apiKey: process.env.ANIMAL_STORE_KEY,
});

for (const name of ['Rex', 'Tom', 'Минька']) {
  const { id } = await store.createPet({ name, categoryId: 9007199254740993n, status: 'sold' });
  console.log(`created pet ${id}`);
}

for await (const { id, name, categoryId } of store.listPets({ status: 'sold' })) {
  console.log(`pet ${id}: ${name} in category ${categoryId}`);
}

await store.createPet({ name: '', categoryId: 7n }).catch(({ code, message }) => {
  console.log(`refused: ${code}: ${message}`);
});
