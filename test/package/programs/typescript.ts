// A TypeScript module, compiled with all checks, which apply to the types of the libraries too.
import {
  type AnimalStore,
  createAnimalStore,
  type NewPet,
  type Pet,
  type PetRepository,
  parsePet,
  parsePets,
  petJson,
  petsJson,
  type Storage,
} from 'animal-store';
import { createFetchHandler, type FetchHandler } from 'animal-store/fetch';
import { createHttpApp, createServer, type HttpServer } from 'animal-store/http';
import { openMemoryStorage } from 'animal-store/memory';
import { openSqliteStorage } from 'animal-store/sqlite';
import { type ContractCase, petRepositoryContract } from 'animal-store/testing';
import type Koa from 'koa';

/** The types of the entry points that are not used here compile too. */
export type Others = [typeof import('animal-store/postgres'), typeof import('animal-store/storage-kit')];

function shouting(): PetRepository {
  const { pets } = openMemoryStorage();
  const add = (pet: NewPet): Promise<Pet> => pets.add({ ...pet, name: pet.name.toUpperCase() });
  return new Proxy(pets, {
    get: (_, method) => (method === 'add' ? add : Reflect.get(pets, method).bind(pets)),
  });
}

const file: Storage = openSqliteStorage(`./typescript-${process.versions.node}.db`);
await using store: AnimalStore = await createAnimalStore({ storage: { ...file, pets: shouting() } });
const { id }: Pet = await store.createPet({ name: 'Rex', categoryId: 7n });
const names: string[] = [];
for await (const pet of store.listPets({ after: id - 1n })) names.push(pet.name);

const app: Koa = createHttpApp(store);
const handle: FetchHandler = createFetchHandler(store);
const server: HttpServer = createServer(store, {
  apiKeys: { verify: async () => ({ id: '1', name: 'me' }) },
});
const cases: ContractCase[] = petRepositoryContract({
  open: async () => ({ port: shouting(), close: async () => {} }),
});
const tom: Pet = await store.createPet({ name: 'Tom', categoryId: 7 });
const sameTom: Pet = parsePet(petJson(await store.getPet(Number(tom.id))));
const pets: readonly Pet[] = parsePets(petsJson([tom, sameTom]));
const categories: readonly bigint[] = pets.map(({ categoryId }) => categoryId);
// @ts-expect-error a category is not a string
await store.createPet({ name: 'Rex', categoryId: '7' }).catch(() => {});
// @ts-expect-error an id is not a string
await store.getPet('1').catch(() => {});
// @ts-expect-error the options are required
await createAnimalStore().catch(() => {});
// @ts-expect-error the option is misspelled
await createAnimalStore({ databse: 'memory:' }).catch(() => {});
// @ts-expect-error either a database or a storage
await createAnimalStore({ database: 'memory:', storage: openMemoryStorage() }).catch(() => {});

if (
  names.join() === 'REX' &&
  categories.join() === '7,7' &&
  app.callback().length === 2 &&
  (await handle(new Request('http://localhost/livez'))).status === 200 &&
  !server.isStopping &&
  cases.length > 5
)
  console.log('done');
