import { beforeEach, describe, expect, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import type { Storage } from '../../src/application/ports/storage.ts';
import { withRequired } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

const REX = withRequired({ name: 'Rex', categoryId: 1n });

let storage: Storage;
let store: AnimalStore;

beforeEach(() => {
  storage = openMemoryStorage();
  store = new AnimalStore(storage);
});

async function* batchesOf<T>(...batches: T[][]): AsyncGenerator<T[]> {
  yield* batches;
}

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const value of values) collected.push(value);
  return collected;
}

describe('pets', () => {
  test('can be created, read and listed', async () => {
    const pet = await store.createPet({ ...REX, status: 'sold' }, { idempotencyKey: undefined });
    expect(await store.getPet(pet.id)).toEqual(pet);
    expect(await store.listPage()).toEqual({ pets: [pet], more: false });
    expect(await collect(store.listPets())).toEqual([pet]);
  });

  test('are read in pages, up to the limit', async () => {
    for (let count = 0; count < 250; count++) await store.createPet(REX);
    const limits: number[] = [];
    const list = storage.pets.list.bind(storage.pets);
    storage.pets.list = (query) => {
      limits.push(query.limit);
      return list(query);
    };
    expect(await collect(store.listPets())).toHaveLength(250);
    expect(limits).toEqual([100, 100, 100]);
    limits.length = 0;
    expect((await collect(store.listPets({ limit: 120, after: 100n }))).map(({ id }) => id)).toEqual(
      Array.from({ length: 120 }, (_, index) => BigInt(index + 101)),
    );
    expect(limits).toEqual([100, 20]);
    expect(await collect(store.listPets({ status: 'sold' }))).toEqual([]);
  });

  test('reject a call with a time that is no time, and with a signal that is aborted', async () => {
    const pet = await store.createPet(REX);
    const aborted = { signal: AbortSignal.abort(new Error('enough')) };
    for (const call of [
      (options: object) => store.getPet(pet.id, options),
      (options: object) => store.listPage({}, options),
      (options: object) => collect(store.listPets({}, options)),
      (options: object) => store.createPet(REX, options),
      (options: object) => store.createPetOnce(REX, 'me', 'key', options),
      (options: object) => collect(store.exportPets({}, options)),
    ]) {
      for (const timeout of [0, 2 ** 31, '5', Number.NaN])
        await expect(call({ timeout })).rejects.toThrow(
          refusal(/^timeout: expected a number of milliseconds/),
        );
      await expect(call(aborted)).rejects.toThrow('enough');
    }
    expect((await store.listPage()).pets).toEqual([pet]);
  });

  test('can be listed one by one, and the walk ends when a storage returns an empty page', async () => {
    const pet = await store.createPet(REX);
    await store.createPet(REX);
    expect(await collect(store.listPets({ limit: 1 }))).toEqual([pet]);
    storage.pets.list = async () => ({ pets: [], more: true });
    expect(await collect(store.listPets())).toEqual([]);
  });

  test.each([0, -1, 1.5, Number.NaN])('cannot be listed with limit %s', async (limit) => {
    await expect(collect(store.listPets({ limit }))).rejects.toThrow(
      refusal('limit must be an integer of 1 or more'),
    );
  });
});

describe('import and export', () => {
  test('apply the rules, and yield the pets in batches', async () => {
    const refused: string[] = [];
    const pets = [5n, 5n, 2n].map((id) => ({ ...REX, id }));
    const options = { onRefused: (_: unknown, reason: string) => refused.push(reason) };
    expect(await store.importPets(batchesOf(pets.slice(0, 1), pets.slice(1)), options)).toBe(2);
    expect(refused).toEqual(['duplicate id 5']);
    expect((await collect(store.exportPets())).flat().map(({ id }) => id)).toEqual([2n, 5n]);
    expect(await collect(store.exportPets({ status: 'sold' }))).toEqual([]);
  });
});

test('what the storage lacks is refused by name', async () => {
  const { transfer: _, idempotentCreates: __, apiKeys: ___, ...rest } = storage;
  const without = new AnimalStore(rest);
  for (const [name, call] of [
    ['import', () => without.importPets(batchesOf([REX]))],
    ['backup', () => without.backup('copy.db')],
    ['Idempotency-Key', () => without.createPet(REX, { idempotencyKey: 'a' })],
    ['keys', () => without.verifyApiKey('a')],
    ['keys', async () => without.apiKeys],
  ] as const) {
    await expect(call()).rejects.toThrow(refusal(`${name} is not supported by this storage`));
  }
  expect((await without.listPage()).pets).toEqual([]);
});

test('an export of a storage without transfers reads page by page', async () => {
  const { transfer: _, ...rest } = storage;
  const without = new AnimalStore(rest);
  expect(await collect(without.exportPets())).toEqual([]);
  for (let count = 0; count < 250; count++) await store.createPet(REX);
  const batches = await collect(without.exportPets());
  expect(batches.map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(batches.flat()).toEqual(await collect(store.listPets()));
  expect(await collect(without.exportPets({ status: 'sold' }))).toEqual([]);
  await expect(collect(without.exportPets({ status: 'gone' as 'sold' }))).rejects.toThrow(
    refusal(/^status must/),
  );
  storage.pets.list = async () => ({ pets: [], more: true });
  expect(await collect(without.exportPets())).toEqual([]);
});

test('a backup and a check are those of the storage', async () => {
  const calls: unknown[][] = [];
  const other = new AnimalStore({
    ...storage,
    backup: async (...given) => void calls.push(given),
    check: () => Promise.reject(new Error('the disk failed')),
  });
  await other.backup('copy.db', { overwrite: true });
  expect(calls).toEqual([['copy.db', { overwrite: true }]]);
  await store.check();
  await expect(other.check()).rejects.toThrow('the disk failed');
});

describe('close', () => {
  test('closes the storage once', async () => {
    let closed = 0;
    const counting = new AnimalStore({
      ...storage,
      async close() {
        closed += 1;
      },
    });
    await Promise.all([counting.close(), counting.close()]);
    await counting.close();
    expect(closed).toBe(1);
  });

  test('happens at the end of an `await using` block', async () => {
    {
      await using scoped = store;
      await scoped.check();
    }
    await expect(storage.check()).rejects.toThrow(refusal('the storage is closed', 'storage_unavailable'));
  });

  test('makes every method reject with storage_unavailable', async () => {
    const { key } = await store.apiKeys.create('ci');
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      createPet: () => store.createPet(REX),
      createPetOnce: () => store.createPetOnce(REX, '1', 'a'),
      getPet: () => store.getPet(1n),
      listPage: () => store.listPage(),
      listPets: () => collect(store.listPets()),
      verifyApiKey: () => store.verifyApiKey(key),
      importPets: () => store.importPets(batchesOf([REX])),
      exportPets: () => collect(store.exportPets()),
      backup: () => store.backup('copy.db'),
      check: () => store.check(),
    };
    await store.close();
    for (const [name, call] of Object.entries(calls)) {
      await expect(call(), name).rejects.toThrow(refusal('the store is closed', 'storage_unavailable'));
    }
    expect(() => store.apiKeys).toThrow(expect.objectContaining({ code: 'storage_unavailable' }));
  });
});
