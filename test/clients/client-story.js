/**
 * Uses the client of the API on any JavaScript platform, and throws an error when something is wrong. The module imports
 * nothing, so that a browser and other runtimes can run it.
 */

const EXACT = [-(2n ** 63n), 2n ** 53n + 1n, 2n ** 63n - 1n];
const PETS = 120;

/**
 * @param {typeof import('../../src/library/client.ts').createAnimalStore} createAnimalStore
 * @param {{ base: string, unreliable: string, apiKey: string }} server the address of an empty store, and the address of a
 *   proxy in front of the same store, which loses responses
 */
export async function clientStory(createAnimalStore, { base, unreliable, apiKey }) {
  const deprecations = [];
  const onDeprecation = ({ operation }) => deprecations.push(operation);
  const open = (options) => createAnimalStore({ database: base, apiKey, onDeprecation, ...options });
  const store = await open();
  await store.check();

  for (const categoryId of EXACT) {
    const pet = await store.createPet({ name: 'Кот "🐈‍⬛"', categoryId, status: 'sold' });
    equal([pet.name, pet.categoryId, pet.status], ['Кот "🐈‍⬛"', categoryId, 'sold']);
    equal((await store.getPet(pet.id)).categoryId, categoryId);
  }
  equal(deprecations, []);

  const names = Array.from({ length: PETS }, (_, index) => `pet ${index}`);
  await Promise.all(names.map((name) => store.createPet({ name, categoryId: 1n, status: 'pending' })));
  equal((await namesOf(store.listPets({ status: 'pending' }))).sort(), names.sort());

  const { pets, more } = await store.listPage({ limit: 2 });
  equal([pets.length, more], [2, true]);

  const lossy = await open({ database: unreliable });
  for (const name of ['a', 'b', 'c', 'd']) await lossy.createPet({ name, categoryId: 1n });
  equal(await namesOf(lossy.listPets({ status: 'available' })), ['a', 'b', 'c', 'd']);

  equal(await codeOf(store.getPet(2n ** 62n)), 'not_found');
  equal(await codeOf((await open({ apiKey: 'wrong' })).listPage()), 'unauthorized');
  equal(await codeOf((await open({ database: `${base}/pets/v1` })).getPet(1n)), 'storage_unavailable');
  const { fetch } = globalThis;
  globalThis.fetch = async () => new Response('[{"id":1,,}]');
  const reason = 'the server does not respond as the API does: invalid JSON';
  equal(await store.listPage({ limit: 3 }).catch(({ message }) => message), reason);
  globalThis.fetch = fetch;
  const signal = AbortSignal.abort(new Error('stopped'));
  equal(await store.getPet(1n, { signal }).catch(({ message }) => message), 'stopped');
  const nowhere = await open({ database: 'http://127.0.0.1:1/v1', timeout: 300 });
  equal(await codeOf(nowhere.createPet({ name: 'Rex', categoryId: 1n })), 'storage_unavailable');
  await store.close();
}

async function namesOf(pets) {
  const names = [];
  for await (const { name } of pets) names.push(name);
  return names;
}

function codeOf(call) {
  return call.then(
    () => 'no error',
    ({ code }) => code,
  );
}

function equal(actual, expected) {
  const [given, wanted] = [actual, expected].map((value) =>
    JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}n` : each)),
  );
  if (given !== wanted) throw new Error(`expected ${wanted}, got ${given}`);
}
