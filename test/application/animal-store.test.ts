import { beforeEach, describe, expect, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import type { BackupOptions } from '../../src/application/ports/maintenance.ts';
import type { PetPage } from '../../src/application/ports/pet-repository.ts';
import type { Storage } from '../../src/application/ports/storage.ts';

const REX = { name: 'Rex', categoryId: 1n } as const;

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
  test('creates a pet with options that are empty', async () => {
    expect(await store.createPet(REX, {})).toMatchObject({ name: 'Rex' });
    expect(await store.createPet(REX, { idempotencyKey: undefined })).toMatchObject({ name: 'Rex' });
  });

  test('can be created, read and listed', async () => {
    const pet = await store.createPet({ ...REX, status: 'sold' });
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

  test('are read by the storage itself page after page, if it can, and pets beyond the limit are left out', async () => {
    for (let count = 0; count < 5; count++) await store.createPet(REX);
    const { pets: all } = await store.listPage();
    const calls: unknown[] = [];
    const options = { timeout: 5 };
    storage.pets.list = async (query, given) => {
      calls.push(['list', query.limit, given]);
      return { pets: all.slice(0, 2), more: true };
    };
    Object.assign(storage.pets, {
      next: async (page: PetPage, given: unknown) => {
        calls.push(['next', page.pets.length, given]);
        return { pets: all.slice(2, 4), more: true };
      },
    });
    expect(await collect(store.listPets({ limit: 3 }, options))).toEqual(all.slice(0, 3));
    expect(calls).toEqual([
      ['list', 3, options],
      ['next', 2, options],
    ]);
    const walk = store.listPets({ limit: 4 }, options);
    for (let count = 0; count < 2; count++) await walk.next();
    await store.close();
    await expect(walk.next()).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  test('reject a call with options that are invalid, and with a signal that is aborted', async () => {
    const pet = await store.createPet(REX);
    const unknown = { timeOut: 5 } as object;
    const aborted = { signal: AbortSignal.abort(new Error('enough')) };
    for (const call of [
      (options: object) => store.getPet(pet.id, options),
      (options: object) => store.listPage({}, options),
      (options: object) => store.createPet(REX, options),
      (options: object) => store.createPetOnce(REX, 'me', 'key', options),
      (options: object) => collect(store.exportPets({}, options)),
    ]) {
      await expect(call(unknown)).rejects.toMatchObject({ code: 'invalid_request' });
      await expect(call({ timeout: 0 })).rejects.toMatchObject({ code: 'invalid_request' });
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
    await expect(collect(store.listPets({ limit }))).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'limit must be an integer of 1 or more',
    });
  });
});

describe('keys', () => {
  test('are created and verified', async () => {
    const { key, about } = await store.apiKeys.create('ci');
    expect(await store.verifyApiKey(key)).toMatchObject({ id: about.id, name: 'ci' });
    await store.apiKeys.revoke(about.id);
    expect(await store.verifyApiKey(key)).toBeUndefined();
  });
});

describe('import and export', () => {
  test('apply the rules, and yield the pets in batches', async () => {
    const refused: string[] = [];
    const count = await store.importPets(
      batchesOf(
        [{ ...REX, id: 5n }],
        [
          { ...REX, id: 5n },
          { ...REX, id: 2n },
        ],
      ),
      {
        onRefused: (_, reason) => refused.push(reason),
      },
    );
    expect([count, refused]).toEqual([2, ['duplicate id 5']]);
    expect((await collect(store.exportPets())).flat().map(({ id }) => id)).toEqual([2n, 5n]);
    expect(await collect(store.exportPets({ status: 'sold' }))).toEqual([]);
  });

  test('are refused when the storage does not support them', async () => {
    const { transfer: _, ...rest } = storage;
    const without = new AnimalStore(rest);
    await expect(without.importPets(batchesOf([REX]))).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'import is not supported by this storage',
    });
    await expect(collect(without.exportPets())).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'export is not supported by this storage',
    });
  });
});

describe('backup', () => {
  test('passes the file and the options to the storage', async () => {
    const calls: [string, BackupOptions | undefined][] = [];
    const supporting = new AnimalStore({
      ...storage,
      backup: async (file, options) => {
        calls.push([file, options]);
      },
    });
    await supporting.backup('copy.db', { overwrite: true });
    expect(calls).toEqual([['copy.db', { overwrite: true }]]);
  });

  test('is refused when the storage does not support it', async () => {
    await expect(store.backup('copy.db')).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'backup is not supported by this storage',
    });
  });
});

describe('check', () => {
  test('resolves when the storage can handle requests, and rejects with its error', async () => {
    await store.check();
    const failing = new AnimalStore({
      ...storage,
      check: () => Promise.reject(new Error('the disk failed')),
    });
    await expect(failing.check()).rejects.toThrow('the disk failed');
  });
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
    await expect(storage.check()).rejects.toMatchObject({ code: 'storage_unavailable' });
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
      await expect(call(), name).rejects.toMatchObject({
        code: 'storage_unavailable',
        message: 'the store is closed',
      });
    }
    expect(() => store.apiKeys).toThrow(expect.objectContaining({ code: 'storage_unavailable' }));
  });
});
