/** The store that a program embeds, with both databases. */

import { execFileSync } from 'node:child_process';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { objectWith } from '../../src/application/arguments.ts';
import {
  type AnimalStore,
  CreatePet,
  createAnimalStore,
  type Pet,
  type PetWalk,
} from '../../src/library/index.ts';
import { createAnimalStore as createPortableStore } from '../../src/library/portable.ts';
import { temporaryFile } from '../adapters/sqlite/temporary-file.ts';
import { REX, REX_JSON } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

async function walk(store: AnimalStore, query?: PetWalk): Promise<Pet[]> {
  const pets: Pet[] = [];
  for await (const pet of store.listPets(query)) pets.push(pet);
  return pets;
}

test('a list does not block the event loop', async () => {
  const store = await createAnimalStore({ database: `sqlite:${temporaryFile()}` });
  onTestFinished(() => store.close());
  await Promise.all(Array.from({ length: 300 }, () => store.createPet(REX)));
  let turns = 0;
  // A timer would need a millisecond, in which a fast machine can read all pages.
  let next = setImmediate(function turn() {
    turns += 1;
    next = setImmediate(turn);
  });
  await walk(store);
  clearImmediate(next);
  expect(turns).toBeGreaterThan(0);
});

test('a custom storage is used and closed, and a single use case needs only its port', async () => {
  const storage = openMemoryStorage();
  const close = vi.fn(async () => {});
  const store = await createAnimalStore({ storage: { ...storage, close } });
  const { pet: rex } = await new CreatePet(storage.pets).execute(REX);
  expect(await walk(store)).toEqual([rex]);
  await store.close();
  await store.close();
  expect(close).toHaveBeenCalledOnce();
});

const ONE_OPTION = "expected one option, database or storage, such as { database: 'memory:' }";
const NO_DATABASE = "database: expected a string such as 'memory:', got";
const NO_STORAGE = 'storage: expected an object with the methods check and close, got';

test.each([
  ['no option', { database: undefined }, ONE_OPTION],
  ['both options', { database: 'memory:', storage: openMemoryStorage() }, ONE_OPTION],
  ['a URL object', { database: new URL('sqlite:./a.db') }, `${NO_DATABASE} object`],
  ['a string as a storage', { storage: 'memory:' }, `${NO_STORAGE} string`],
  ['a promise of a storage', { storage: Promise.resolve(openMemoryStorage()) }, `${NO_STORAGE} object`],
  [
    'a storage without pets',
    { storage: { ...openMemoryStorage(), pets: undefined } },
    `storage.pets: expected ${objectWith('add', 'find', 'list').expected}, got undefined`,
  ],
])('a configuration that is %s is refused', async (_, config, message) => {
  for (const create of [createAnimalStore, createPortableStore])
    await expect(create(config as never)).rejects.toThrow(refusal(message));
});

test('without Node.js there is memory, and no SQLite', async () => {
  expect(await walk(await createPortableStore({ database: 'memory:' }))).toEqual([]);
  await expect(createPortableStore({ database: 'sqlite:./pets.db' })).rejects.toThrow(
    refusal(/^database: expected memory:.*, got a value without such a scheme$/),
  );
});

test('a store that is not closed does not keep the process alive, before and after a write', () => {
  const index = new URL('../../src/library/index.ts', import.meta.url).href;
  const program = `
    import { createAnimalStore } from '${index}';
    await createAnimalStore({ database: 'sqlite:${temporaryFile()}' });
    const written = await createAnimalStore({ database: 'sqlite:${temporaryFile()}' });
    await written.createPet(JSON.parse('${REX_JSON}'));
    console.log('done');`;
  const args = ['--input-type=module', '--eval', program];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 })).toBe('done\n');
});

test('idempotencyDays is an integer from 1 to 90', async () => {
  const storage = openMemoryStorage();
  using add = vi.spyOn(storage.idempotentCreates, 'add');
  const store = await createAnimalStore({ storage, idempotencyDays: 90 });
  onTestFinished(() => store.close());
  await store.createPet(REX, { idempotencyKey: 'a' });
  const [, { validFor }] = add.mock.calls[0] as Parameters<typeof storage.idempotentCreates.add>;
  expect(validFor).toBe(90 * 24 * 60 * 60 * 1000);
  await expect(createAnimalStore({ database: 'memory:', idempotencyDays: 91 })).rejects.toThrow(
    'idempotencyDays: expected an integer from 1 to 90, got',
  );
});
