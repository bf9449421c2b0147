import { beforeEach, describe, expect, test, vi } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import type { Storage } from '../../src/application/ports/storage.ts';
import { REX } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

let storage: Storage;
let store: AnimalStore;

beforeEach(() => {
  storage = openMemoryStorage();
  store = new AnimalStore(storage);
});

async function* batchesOf<T>(...batches: T[][]): AsyncGenerator<T[]> {
  yield* batches;
}

describe('pets', () => {
  test('are read in pages, up to the limit', async () => {
    for (let count = 0; count < 250; count++) await store.createPet(REX);
    const limits: number[] = [];
    const list = storage.pets.list.bind(storage.pets);
    storage.pets.list = (query) => {
      limits.push(query.limit);
      return list(query);
    };
    expect(await Array.fromAsync(store.listPets())).toHaveLength(250);
    const some = await Array.fromAsync(store.listPets({ limit: 120, after: 100n }));
    expect(some.map(({ id }) => id)).toEqual(Array.from({ length: 120 }, (_, index) => BigInt(index + 101)));
    expect(limits).toEqual([100, 100, 100, 100, 20]);
    expect(await Array.fromAsync(store.listPets({ limit: 1 }))).toHaveLength(1);
    storage.pets.list = async () => ({ pets: [], more: true });
    expect(await Array.fromAsync(store.listPets())).toEqual([]);
  });

  test('reject a call with a time that is no time, and with a signal that is aborted', async () => {
    const pet = await store.createPet(REX);
    const aborted = { signal: AbortSignal.abort(new Error('enough')) };
    for (const call of [
      (options: object) => store.getPet(pet.id, options),
      (options: object) => store.listPage({}, options),
      (options: object) => store.listPets({}, options).next(),
      (options: object) => store.exportPets({}, options).next(),
      (options: object) => store.createPet(REX, options),
      (options: object) => store.createPetOnce(REX, { caller: 'me', key: 'key' }, options),
    ]) {
      for (const timeout of [0, 2 ** 31, '5', Number.NaN])
        await expect(call({ timeout })).rejects.toThrow(
          refusal(/^timeout: expected a number of milliseconds/),
        );
      await expect(call({ signal: null })).rejects.toThrow(
        refusal('signal: expected an AbortSignal, got null'),
      );
      await expect(call(aborted)).rejects.toThrow('enough');
    }
    expect((await store.listPage()).pets).toEqual([pet]);
  });

  test('cannot be listed with a wrong limit, or an option that does not exist, or be exported with one', async () => {
    const refused = refusal('limit must be an integer of 1 or more');
    for (const limit of [0, 1.5, Number.NaN])
      await expect(store.listPets({ limit }).next()).rejects.toThrow(refused);
    const misspelt = { stauts: 'sold' } as never;
    for (const call of [
      () => store.listPage(misspelt),
      () => store.listPets(misspelt).next(),
      () => store.followPets(misspelt).next(),
      () => store.exportPets(misspelt).next(),
    ])
      await expect(call()).rejects.toThrow(refusal(/^unknown option stauts: expected/));
  });
});

test('an import and a backup have inherited options', async () => {
  const { pets } = await store.listPage();
  await store.importPets(batchesOf([REX]), Object.create({ dryRun: true }));
  expect((await store.listPage()).pets).toEqual(pets);
  const backup = vi.fn();
  await new AnimalStore({ ...openMemoryStorage(), backup }).backup(
    'copy',
    Object.create({ overwrite: true }),
  );
  expect(backup).toHaveBeenCalledWith('copy', { overwrite: true });
});

test('an import, an export and a backup refuse options that would have no effect', async () => {
  for (const call of [
    () => store.importPets(batchesOf([REX]), { dryrun: true } as object),
    () => store.backup('copy.db', { force: true } as object),
    () => store.exportPets({ limit: 2 } as object).next(),
    () => store.exportPets({ after: 1n } as object).next(),
  ])
    await expect(call()).rejects.toThrow(
      refusal(/^unknown option (?:dryrun|force|limit|after): expected \w/),
    );
  for (const batches of [undefined, [[REX]]])
    await expect(store.importPets(batches as never)).rejects.toThrow(
      refusal(/^batches: expected an async iterable of arrays of pets, got /),
    );
  await expect(store.importPets(batchesOf(REX as never))).rejects.toThrow(
    refusal('batches: expected arrays of pets'),
  );
  await expect(store.backup(7 as never)).rejects.toThrow(refusal('file: expected a string, got 7'));
});

test('close ends an import whose batches stop coming', async () => {
  const { promise: stalled, resolve } = Promise.withResolvers<void>();
  const batches = (async function* () {
    yield [REX];
    resolve();
    await new Promise(() => {});
  })();
  const rejected = expect(store.importPets(batches)).rejects.toMatchObject({ code: 'storage_unavailable' });
  await stalled;
  await store.close();
  await rejected;
});

test('what the storage lacks is refused by name', async () => {
  const { pets, check, close } = storage;
  const without = new AnimalStore({ pets, check, close });
  for (const [name, call] of [
    ['backup', () => without.backup('copy.db')],
    ['the idempotency key', () => without.createPet(REX, { idempotencyKey: 'a' })],
    ['import', () => without.importPets(batchesOf([REX]))],
    ['keys', () => without.verifyApiKey('a')],
    ['keys', async () => without.apiKeys],
    ['a change of a pet', () => without.changePet(1n, {})],
    ['a change of a pet', () => without.removePet(1n)],
    ['a change of a pet', () => without.listChanges()],
    ['a change of a pet', () => without.followChanges().next()],
    ['a new epoch', () => without.beginEpoch()],
  ] as const)
    await expect(call()).rejects.toThrow(refusal(`${name} is not supported by this storage`));
  expect((await without.listPage()).pets).toEqual([]);
  expect([store.canChangePets, without.canChangePets]).toEqual([true, false]);
  expect([store.hasApiKeys, without.hasApiKeys]).toEqual([true, false]);
});

describe('close', () => {
  test('closes the storage once, also at the end of an `await using` block', async () => {
    let closed = 0;
    {
      const close = async () => {
        closed += 1;
      };
      await using counting = new AnimalStore({ ...storage, close });
      await Promise.all([counting.close(), counting.close()]);
      await using _ = new AnimalStore({ ...storage, close });
    }
    expect(closed).toBe(2);
  });

  test('makes every method reject with storage_unavailable', async () => {
    const { key } = await store.apiKeys.create('ci');
    // The storage stays open, so only the store can refuse a call.
    storage.close = async () => {};
    await store.close();
    for (const call of [
      () => store.createPet(REX),
      () => store.createPetOnce(REX, { caller: '1', key: 'a' }),
      () => store.getPet(1n),
      () => store.changePet(1n, {}),
      () => store.changePet(1n, () => ({})),
      () => store.removePet(1n),
      () => store.listPage(),
      () => store.listPets().next(),
      () => store.listChanges(),
      () => store.verifyApiKey(key),
      () => store.importPets(batchesOf([REX])),
      () => store.exportPets().next(),
      () => store.backup('copy.db'),
      () => store.check(),
      () => store.beginEpoch(),
      async () => store.apiKeys,
    ])
      await expect(call(), String(call)).rejects.toThrow(
        refusal('the store is closed', 'storage_unavailable'),
      );
  });
});

test('an API key that the store has revoked is refused during an outage', async () => {
  const { key, about } = await store.apiKeys.create('ci');
  const outage = new Error('the disk failed');
  await store.verifyApiKey(key);
  storage.apiKeys.find = () => Promise.reject(outage);
  expect(await store.verifyApiKey(key, { duringOutage: true })).toMatchObject({ name: 'ci' });
  await store.apiKeys.revoke(about.id);
  await expect(store.verifyApiKey(key, { duringOutage: true })).rejects.toBe(outage);
  const misspelt: object = { duringOutag: true };
  await expect(store.verifyApiKey(key, misspelt)).rejects.toThrow(refusal(/^unknown option duringOutag/));
  await expect(store.apiKeys.create('a', undefined, 'no' as never)).rejects.toThrow(
    refusal(/^isReadOnly: expected /),
  );
});

test('a signal ends the wait for a storage that ignores it, and says what is unknown', async () => {
  const never = () => new Promise<never>(() => {});
  const pets = { add: never, find: never, list: never };
  const stalled = { [Symbol.asyncIterator]: () => ({ next: never, return: never }) };
  const transfer = { ...storage.transfer, exportPets: () => stalled };
  const waiting = new AnimalStore({ ...storage, pets, transfer, idempotentCreates: { add: never } });
  const controller = new AbortController();
  const options = { signal: controller.signal };
  const reads = Promise.allSettled([
    waiting.getPet(1n, options),
    waiting.listPage({}, options),
    waiting.listPets({}, options).next(),
    waiting.followPets(options).next(),
    waiting.exportPets({}, options).next(),
    store.importPets(stalled, options),
  ]);
  const creates = Promise.allSettled([
    waiting.createPet(REX, options),
    waiting.createPet(REX, { ...options, idempotencyKey: 'k' }),
  ]);
  const reason = new Error('no longer needed');
  setImmediate(() => controller.abort(reason));
  for (const read of await reads) expect(read).toEqual({ status: 'rejected', reason });
  const advice = ['', ': repeat the create with the same Idempotency-Key'];
  for (const [index, create] of (await creates).entries())
    expect(create).toMatchObject({
      reason: {
        code: 'storage_unavailable',
        message: `the create was aborted; the pet may be stored${advice[index]}`,
        idempotencyKey: [undefined, 'k'][index],
        cause: reason,
      },
    });
});
