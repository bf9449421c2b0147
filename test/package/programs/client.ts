/** Uses the package of the client against a server. Arguments: the base address, and the API key. */

import { AnimalStoreError, type BasicStore, createAnimalStore, type Pet } from 'animal-store-client';

declare const process: { readonly argv: readonly string[] };

const [, , database = '', apiKey] = process.argv;
const store: BasicStore = await createAnimalStore({ database, apiKey });
const large = 9007199254740993n;
const created: Pet = await store.createPet({ name: 'Rex', categoryId: large });
const pets: Pet[] = [];
for await (const pet of store.listPets()) pets.push(pet);
const found = await store.getPet(created.id);
const fault: unknown = await store.getPet(created.id + 1n).catch((error: unknown) => error);
await store.close();

if (pets.length !== 1 || pets[0]?.categoryId !== large) throw new Error('the list is wrong');
if (found.categoryId !== large || found.name !== 'Rex') throw new Error('the pet is wrong');
if (!(fault instanceof AnimalStoreError) || fault.code !== 'not_found') throw new Error('the error is wrong');
console.log('done');
