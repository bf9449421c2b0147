// A CommonJS module can require every entry point.
const assert = require('node:assert/strict');
const { createAnimalStore } = require('animal-store');
const { createFetchHandler } = require('animal-store/fetch');
const { createHttpApp } = require('animal-store/http');
const { openMemoryStorage } = require('animal-store/memory');
const { openSqliteStorage } = require('animal-store/sqlite');
const { petRepositoryContract } = require('animal-store/testing');

assert.equal(require('animal-store/package.json').name, 'animal-store');
for (const exported of [
  createFetchHandler,
  createHttpApp,
  openMemoryStorage,
  openSqliteStorage,
  petRepositoryContract,
]) {
  assert.equal(typeof exported, 'function');
}

createAnimalStore({ database: `sqlite:./commonjs-${process.versions.node}.db` }).then(async (store) => {
  const rex = await store.createPet({ name: 'Rex', categoryId: 7n });
  for await (const pet of store.listPets()) assert.deepEqual(pet, rex);
  await store.close();
  console.log('done');
});
