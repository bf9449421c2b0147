// An ES module: all operations of a store, on both databases. One storage is not closed, and the process exits anyway. Its files are new ones: it runs more than once in a folder.
import assert from 'node:assert/strict';
import { AnimalStoreError, CreatePet, createAnimalStore, newPet } from 'animal-store';
import { createFetchHandler } from 'animal-store/fetch';
import { createHttpApp, createServer } from 'animal-store/http';
import { openMemoryStorage } from 'animal-store/memory';
import { openSqliteStorage } from 'animal-store/sqlite';
import { apiKeyRepositoryContract, petRepositoryContract } from 'animal-store/testing';

for (const database of ['memory:', `sqlite:./esm-${process.pid}.db`]) {
  const store = await createAnimalStore({ database });
  const rex = await store.createPet({ name: 'Rex', categoryId: 7n });
  await store.createPet({ name: 'Tom', categoryId: 2n ** 63n - 1n, status: 'sold' });
  const available = [];
  for await (const pet of store.listPets({ status: 'available' })) available.push(pet);
  assert.deepEqual(available, [rex]);
  assert.deepEqual(await store.getPet(rex.id), rex);
  await assert.rejects(
    store.getPet(99n),
    (error) => error instanceof AnimalStoreError && error.code === 'not_found',
  );
  await store.close();
}

const store = await createAnimalStore({ database: 'memory:' });
const server = createServer(store);
const response = await fetch(`${await server.listen(0, '127.0.0.1')}/v1/pets`);
assert.equal(response.status, 401);
await server.stop(1000);

const created = await new CreatePet(openMemoryStorage().pets).execute({ name: 'Rex', categoryId: 7n });
assert.equal(created.pet.id, 1n);
assert.equal(typeof createHttpApp(store).callback(), 'function');
assert.equal((await createFetchHandler(store)(new Request('http://localhost/v1/pets'))).status, 401);
for (const { run } of petRepositoryContract({
  open: async () => ({ port: openMemoryStorage().pets, close() {} }),
})) {
  await run();
}
assert.ok(apiKeyRepositoryContract({}).length > 10);

const forgotten = openSqliteStorage(`./forgotten-${process.pid}.db`);
await forgotten.pets.add(newPet({ name: 'Rex', categoryId: 7n }));
console.log('done');
