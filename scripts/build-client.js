/** Bundles the JavaScript client into one module, for users who do not install the package. */

import { fileURLToPath } from 'node:url';
import { bundle } from './build-bundle.js';
import { compress } from './build-files.js';

const CLIENT = fileURLToPath(new URL('../src/library/client.ts', import.meta.url));

const MANUAL = `/*
 * A client of the API, as one minified module: save it as animal-store-client.mjs.
 *   import { createAnimalStore } from './animal-store-client.mjs';
 *   const store = await createAnimalStore({ database: 'https://pets.example.org/v1', apiKey: '...' });
 * Methods: createPet, getPet, listPets, listPage, followPets, check, close and, if the server serves them,
 * changePet, removePet, listChanges, followChanges. The manual is docs/client.md in the package animal-store.
 */`;

export async function clientFiles() {
  return [['animal-store-client.js.gz', compress(await bundle(CLIENT, MANUAL))]];
}
