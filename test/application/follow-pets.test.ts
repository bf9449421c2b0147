import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import type { Storage } from '../../src/application/ports/storage.ts';
import { AnimalStoreError, type ErrorCode } from '../../src/domain/errors.ts';
import type { Pet } from '../../src/domain/pet.ts';
import { PET_FILTERS } from '../../src/domain/pet-filter.ts';
import { filterablePets } from '../../src/testing/fixtures/filters.ts';
import { REX } from '../support/pets.ts';

const LONG = { interval: 600_000 };

let storage: Storage;
let store: AnimalStore;

beforeEach(() => {
  storage = openMemoryStorage();
  store = new AnimalStore(storage);
});

async function take(follower: AsyncGenerator<Pet, void>, count: number): Promise<bigint[]> {
  const ids: bigint[] = [];
  while (ids.length < count) ids.push(((await follower.next()).value as Pet).id);
  return ids;
}

/** Makes the reads of pages fail, one after the other. `undefined` lets a read succeed. */
function failReads(...errors: (ErrorCode | undefined)[]): void {
  const list = storage.pets.list.bind(storage.pets);
  storage.pets.list = async (query) => {
    const code = errors.shift();
    if (code !== undefined) throw new AnimalStoreError(code, 'no', { retryAfter: 0.001 });
    return list(query);
  };
}

describe('a follower', () => {
  test('sees earlier and later pets once, over many pages', async () => {
    for (let count = 0; count < 150; count += 1) await store.createPet(REX);
    const follower = store.followPets({ interval: 1 });
    const first = await take(follower, 150);
    const later = take(follower, 30);
    for (let count = 0; count < 30; count += 1) await store.createPet(REX);
    expect([...first, ...(await later)]).toEqual(
      Array.from({ length: 180 }, (_, index) => BigInt(index + 1)),
    );
  });

  test('goes on after an id, and sees only pets that its filter matches', async () => {
    const [name] = PET_FILTERS;
    const other = filterablePets(9).find((pet) => name !== undefined && pet[name] !== REX[name]) ?? REX;
    for (const pet of [REX, REX, other]) await store.createPet(pet);
    const filter = name === undefined ? {} : { [name]: REX[name] };
    const follower = store.followPets({ after: 1n, ...filter, interval: 1 });
    const expected = [2n, ...(other === REX ? [3n, 4n] : []), 5n];
    expect(await take(follower, 1)).toEqual(expected.splice(0, 1));
    const later = take(follower, expected.length);
    await store.createPet(other);
    await store.createPet(REX);
    expect(await later).toEqual(expected);
  });

  test('waits until a storage can be read again', async () => {
    await store.createPet(REX);
    failReads(undefined, 'storage_unavailable', 'overloaded', 'rate_limited');
    const follower = store.followPets({ interval: 1 });
    expect(await take(follower, 1)).toEqual([1n]);
    await store.createPet(REX);
    expect(await take(follower, 1)).toEqual([2n]);
  });

  test('reads again after an interval, and after an error not before the storage allows it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    for (let count = 0; count < 150; count += 1) await store.createPet(REX);
    const controller = new AbortController();
    const read = vi.spyOn(storage.pets, 'list');
    const follower = store.followPets({ signal: controller.signal });
    await take(follower, 150);
    const next = follower.next();
    for (const [time, error] of [
      [1000, undefined],
      [1000, new AnimalStoreError('overloaded', 'no', { retryAfter: 2 })],
      [2000, undefined],
    ] as const) {
      if (error !== undefined) read.mockRejectedValueOnce(error);
      const { length } = read.mock.calls;
      await vi.advanceTimersByTimeAsync(time - 1);
      expect(read).toHaveBeenCalledTimes(length);
      await vi.advanceTimersByTimeAsync(1);
      expect(read).toHaveBeenCalledTimes(length + 1);
    }
    controller.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    for (const [, options] of read.mock.calls) expect(options?.signal?.reason).toBe(controller.signal.reason);
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each<[string, (ErrorCode | undefined)[], ErrorCode]>([
    ['the first read fails', ['storage_unavailable'], 'storage_unavailable'],
    ['a read fails for good', [undefined, 'unauthorized'], 'unauthorized'],
    ['a database has an unexpected error', [undefined, 'internal_error'], 'internal_error'],
  ])('ends when %s', async (_name, errors, code) => {
    failReads(...errors);
    await expect(store.followPets({ interval: 1 }).next()).rejects.toMatchObject({ code });
  });

  test('reads again after an unexpected error of a server', async () => {
    const server = new AnimalStore({ ...storage, isRemote: true });
    failReads(undefined, 'internal_error');
    const next = take(server.followPets({ interval: 1 }), 1);
    await store.createPet(REX);
    expect(await next).toEqual([1n]);
  });

  test.each([
    ['', () => storage.close],
    [', whose storage returns no promise', () => () => undefined as never],
  ])('ends when the store is closed%s', async (_, closeOf) => {
    Object.assign(storage, { close: closeOf() });
    const pausing = [store.followPets(LONG).next(), store.followChanges(LONG).next()];
    await setImmediate();
    await store.close();
    for (const next of pausing)
      await expect(next).rejects.toMatchObject({
        code: 'storage_unavailable',
        message: 'the store is closed',
      });
  });

  test('ends at once on return() and throw(), even while it pauses or reads', async () => {
    const list = () => new Promise<never>(() => {});
    const hanging = new AnimalStore({ ...storage, pets: { ...storage.pets, list } });
    const [done, error] = [{ done: true, value: undefined }, new Error('enough')];
    for (const start of [
      () => store.followPets(LONG),
      () => store.followChanges(LONG),
      () => hanging.followPets(),
    ]) {
      const [returned, thrown] = [start(), start()];
      const pending = [returned.next(), thrown.next()];
      await setImmediate();
      expect(await returned.return()).toEqual(done);
      await expect(thrown.throw(error)).rejects.toBe(error);
      expect(await Promise.all(pending)).toEqual([done, done]);
    }
    await store.createPet(REX);
    const yielding = store.followPets();
    await yielding.next();
    await expect(yielding.throw(error)).rejects.toBe(error);
  });

  test('ends with the reason of its signal, at once', async () => {
    const controller = new AbortController();
    const next = store.followPets({ signal: controller.signal, ...LONG }).next();
    const reason = new Error('enough');
    setTimeout(() => controller.abort(reason));
    await expect(next).rejects.toBe(reason);
    await expect(store.followPets({ signal: controller.signal }).next()).rejects.toBe(reason);
  });

  test('ends with the reason of its signal within a page, and so does a list', async () => {
    for (let count = 0; count < 3; count += 1) await store.createPet(REX);
    for (const iterate of [
      (signal: AbortSignal) => store.followPets({ signal }),
      (signal: AbortSignal) => store.followChanges({ signal }),
      (signal: AbortSignal) => store.listPets({}, { signal }),
    ]) {
      const controller = new AbortController();
      const items = iterate(controller.signal);
      await items.next();
      const reason = new Error('enough');
      controller.abort(reason);
      await expect(items.next()).rejects.toBe(reason);
      expect(await items.next()).toEqual({ done: true, value: undefined });
    }
  });

  test.each([
    [{ interval: 0 }, /^interval: expected a number of milliseconds/],
    [{ after: 1.5 }, /^after must be/],
  ])('refuses the options %j', async (options, message) => {
    await expect(store.followPets(options as object).next()).rejects.toThrow(message);
  });
});

test('a follower waits at most a minute, however long the server asks it to wait', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { id } = await store.createPet(REX);
  const list = storage.pets.list.bind(storage.pets);
  let reads = 0;
  storage.pets.list = async (query) => {
    reads += 1;
    if (reads === 2) throw new AnimalStoreError('rate_limited', 'no', { retryAfter: 86_400 });
    return list(query);
  };
  const next = store.followPets({ after: id }).next();
  await vi.advanceTimersByTimeAsync(1000);
  await store.createPet(REX);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(reads).toBe(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(await next).toMatchObject({ value: { id: id + 1n } });
});
