/**
 * Prints all pets after an id, and each later pet as soon as it is stored. The client of this package waits while there are no
 * new pets, and continues after a temporary error.
 *
 *     ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... node examples/follow/animal-store-client.js [LAST_ID]
 */

import { createAnimalStore } from 'animal-store/client';

const store = await createAnimalStore({
  database: process.env.ANIMAL_STORE_URL ?? 'http://127.0.0.1:3000/v1',
  apiKey: process.env.ANIMAL_STORE_KEY,
});

for await (const { id, name } of store.followPets({ after: BigInt(process.argv[2] ?? 0) })) {
  // To continue after this pet when the program starts again, store the pet and its id in one transaction.
  console.log(`pet ${id}: ${name}`);
}
