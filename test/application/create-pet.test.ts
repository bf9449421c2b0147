import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import { CreatePet } from '../../src/application/create-pet.ts';
import { nextTurn } from '../../src/application/pause.ts';
import { DAY } from '../../src/application/ports/idempotent-creates.ts';
import type { Storage } from '../../src/application/ports/storage.ts';
import { startRecordRemoval } from '../../src/application/record-removal.ts';
import { newPet } from '../../src/domain/pet.ts';
import { BARE_REX, INVALID_PETS, PETS_UNLIKE_REX, REX } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

const MINUTE = 60_000;

const KEY = { caller: '1', key: 'a' };

let storage: Storage;
let createPet: CreatePet;

beforeEach(() => {
  vi.setSystemTime(Date.UTC(2030, 0, 1));
  storage = openMemoryStorage();
  createPet = createPetFor();
});

afterEach(() => void vi.useRealTimers());

const createPetFor = (days?: number) =>
  new CreatePet(storage.pets, { creates: storage.idempotentCreates, days });
const pass = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);
const stored = async () => (await storage.pets.list({ limit: 100 })).pets;

describe('CreatePet', () => {
  test('an equal pet is a replay, even when the defaults are given in one of the calls', async () => {
    const first = await createPet.execute(BARE_REX, KEY);
    const second = await createPet.execute(newPet(BARE_REX), KEY);
    expect(first.isReplay).toBe(false);
    expect(second).toEqual({ pet: first.pet, isReplay: true });
    expect(await stored()).toEqual([first.pet]);
  });

  test.each(PETS_UNLIKE_REX)(
    'a different pet such as %o is a conflict, and is not stored',
    async (different) => {
      const { pet } = await createPet.execute(REX, KEY);
      await expect(createPet.execute(different, KEY)).rejects.toThrow(
        refusal(
          'the idempotency key was used for a different pet: use a new key for each pet',
          'idempotency_conflict',
        ),
      );
      expect(await stored()).toEqual([pet]);
    },
  );

  test('a call that was refused stores nothing, and does not use up its key', async () => {
    for (const call of [
      () => createPet.execute(INVALID_PETS[0].input, KEY),
      () => createPet.execute(REX, { caller: '1', key: 'a b' }),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await stored()).toEqual([]);
    expect((await createPet.execute(REX, KEY)).isReplay).toBe(false);
  });

  test('a key is valid for 24 hours', async () => {
    const { pet } = await createPet.execute(REX, KEY);
    pass(24 * 60 * MINUTE);
    expect(await createPet.execute(REX, KEY)).toEqual({ pet, isReplay: true });
    pass(1);
    expect((await createPet.execute(REX, KEY)).isReplay).toBe(false);
  });

  test('the days are those of the server that made the record', async () => {
    const patient = createPetFor(30);
    const { pet } = await patient.execute(REX, KEY);
    pass(30 * DAY);
    for (const server of [createPet, patient])
      expect(await server.execute(REX, KEY)).toEqual({ pet, isReplay: true });
    pass(1);
    expect((await createPet.execute(REX, KEY)).isReplay).toBe(false);
  });
});

/** Fakes the timers of `setTimeout` until the end of the test. */
function fakeTimers(...others: readonly 'Date'[]): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', ...others] });
  onTestFinished(() => void vi.useRealTimers());
}

describe('the removal of records', () => {
  /** Waits for more turns of the event loop than any removal in these tests needs. */
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) await nextTurn();
  }

  test('removes until nothing is left, once a minute, also after a failure', async () => {
    fakeTimers();
    const removeRecords = vi.fn(async () => 0);
    removeRecords.mockResolvedValueOnce(500).mockResolvedValueOnce(500).mockResolvedValueOnce(499);
    const failure = new Error('the disk is full');
    removeRecords.mockRejectedValueOnce(failure);
    const report = vi.fn();
    onTestFinished(startRecordRemoval({ removeRecords }, report));
    vi.advanceTimersByTime(MINUTE - 1);
    for (const [time, calls] of [
      [0, 0],
      [1, 3],
      [MINUTE, 4],
      [MINUTE, 5],
    ] as const) {
      vi.advanceTimersByTime(time);
      await settle();
      expect(removeRecords).toHaveBeenCalledTimes(calls);
    }
    expect(removeRecords).toHaveBeenCalledWith(500);
    expect(report.mock.calls).toEqual([['the removal of ended idempotency records', failure]]);
  });

  test('does not keep the process alive, and stops in a browser, whose timers are numbers', () => {
    using set = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(startRecordRemoval({ removeRecords: async () => 0 }, () => {}));
    expect(set.mock.results.map(({ value }) => value.hasRef())).toEqual([false]);
    set.mockReturnValue(7 as never);
    using clear = vi.spyOn(globalThis, 'clearTimeout').mockReturnValue();
    startRecordRemoval({ removeRecords: async () => 0 }, () => {})();
    expect(clear).toHaveBeenCalledWith(7);
  });

  test('that fails after it was stopped is not reported', async () => {
    fakeTimers();
    const removeRecords = vi.fn(() => Promise.reject(new Error('the storage is closed')));
    const report = vi.fn();
    const stop = startRecordRemoval({ removeRecords }, report);
    vi.advanceTimersByTime(MINUTE);
    stop();
    await settle();
    expect(removeRecords).toHaveBeenCalledTimes(1);
    expect(report).not.toHaveBeenCalled();
  });

  test('does not begin again while it is removing, and stops in the middle', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const removeRecords = vi.fn(() => promise);
    fakeTimers();
    const stop = startRecordRemoval({ removeRecords }, () => {});
    vi.advanceTimersByTime(3 * MINUTE);
    stop();
    resolve(500);
    await settle();
    expect(removeRecords).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test.each([0, 91, 1.5, Number.NaN, '1' as never])('a key cannot be valid for %s days', (days) => {
  const rule = refusal(/^idempotencyDays: expected an integer from 1 to 90, got /);
  expect(() => new CreatePet(storage.pets, { days })).toThrow(rule);
  for (const valid of [1, 90]) expect(() => new CreatePet(storage.pets, { days: valid })).not.toThrow();
});

describe('AnimalStore', () => {
  test('createPetOnce uses the option idempotencyKey if it gets no caller', async () => {
    const store = new AnimalStore(storage);
    const { pet } = await store.createPetOnce(REX, undefined, { idempotencyKey: 'a' });
    for (const caller of [undefined, { caller: '', key: 'a' }])
      expect(await store.createPetOnce(REX, caller, { idempotencyKey: 'a' })).toEqual({
        pet,
        isReplay: true,
      });
    const key: object = { idempotencyKey: 'a' };
    for (const read of [store.getPet(1n, key), store.listPage({}, key)])
      await expect(read).rejects.toThrow(refusal(/^unknown option idempotencyKey/));
  });

  test('startMaintenance or a write with a key starts the removal, but not after close, or for a storage without records', async () => {
    fakeTimers();
    const { idempotencyRecords, ...others } = storage;
    new AnimalStore(others).startMaintenance();
    const store = new AnimalStore(storage);
    expect(vi.getTimerCount()).toBe(0);
    store.startMaintenance();
    expect(vi.getTimerCount()).toBe(1);
    const writing = new AnimalStore(storage);
    const { id } = await writing.createPet(REX);
    expect(vi.getTimerCount()).toBe(1);
    await writing.removePetOnce(id, { caller: '1', key: 'a' });
    expect(vi.getTimerCount()).toBe(2);
    await writing.close();
    await store.close();
    const closed = new AnimalStore(storage);
    await closed.close();
    closed.startMaintenance();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('removes old records while it is open', async () => {
    fakeTimers('Date');
    await using store = new AnimalStore(storage);
    await store.createPet(REX, { idempotencyKey: 'a' });
    vi.setSystemTime(Date.now() + DAY + 1);
    vi.advanceTimersByTime(MINUTE);
    await vi.waitFor(async () => expect(await storage.idempotencyRecords.count()).toBe(0));
  });
});
