import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { ChangePet } from '../../src/application/change-pet.ts';
import { entityTagOf } from '../../src/application/entity-tag.ts';
import { RemovePet } from '../../src/application/remove-pet.ts';
import { retryLostRace } from '../../src/application/versioned-writes.ts';
import type { Pet } from '../../src/domain/pet.ts';
import { petJson } from '../../src/domain/pet-json.ts';
import { numberedPet } from '../../src/testing/fixtures/pets.ts';
import { INVALID_CHANGES, numberedChange } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

const CHANGED_SINCE = refusal(
  'the pet has changed since it was read, or the entity tag is not its own: read it again, then decide',
  'precondition_failed',
);
const NO_TAG = refusal(
  'expected a strong entity tag to match, with its double quotes and without W/',
  'precondition_failed',
);
const OTHER_REQUEST = refusal(
  'the idempotency key was used for a different request: use a new key for each request',
  'idempotency_conflict',
);
const REX = numberedPet(0n);
const [SOLD, MAX, KIM] = [numberedChange(1), numberedChange(2), numberedChange(3)];
const NO_PET = refusal(/^there is no pet with id \d+$/, 'not_found');

function openUseCases() {
  const { pets, changes, idempotentChanges } = openMemoryStorage();
  if (changes === undefined || idempotentChanges === undefined) throw new Error('the ports are missing');
  const ports = { changes, idempotentChanges, days: 1 };
  return {
    pets,
    changes,
    idempotentChanges,
    changePet: new ChangePet(ports),
    removePet: new RemovePet(ports),
  };
}

let store: ReturnType<typeof openUseCases>;
let pet: Pet;
const A = { caller: '1', key: 'a' };

beforeEach(async () => {
  store = openUseCases();
  pet = await store.pets.add(REX);
});

const revision = async () => (await store.changes.find(pet.id))?.revision;

test('a storage in plain JavaScript can say with null that it has no record, and that another writer was faster', async () => {
  const { find } = store.idempotentChanges;
  store.idempotentChanges.find = async (...query) => ({
    ...(await find.call(store.idempotentChanges, ...query)),
    record: null as never,
  });
  vi.spyOn(store.idempotentChanges, 'replace').mockResolvedValueOnce(null as never);
  await store.changePet.execute(pet.id, SOLD, '*', A);
  expect(await store.pets.find(pet.id)).toMatchObject(SOLD);
  vi.spyOn(store.changes, 'find').mockResolvedValueOnce({ revision: 9n, pet: null as never });
  await expect(store.changePet.execute(pet.id, KIM, '*')).rejects.toMatchObject(NO_PET);
});

test('the entity tag of a pet is the hash of its JSON', async () => {
  // So many that every character of the encoding occurs.
  for (let id = 1n; id <= 20n; id += 1n) {
    const each = { ...pet, id };
    const hash = createHash('sha256').update(petJson(each)).digest('base64url');
    expect(await entityTagOf(each)).toBe(`"${hash}"`);
  }
});

describe('ChangePet', () => {
  test('a change that changes nothing takes no number', async () => {
    expect((await store.changePet.execute(pet.id, { ...REX }, '*')).pet).toEqual(pet);
    expect(await revision()).toBe(pet.id);
  });

  test('refuses a pet that has changed since, and with any of several tags it is enough that one matches', async () => {
    const old = await entityTagOf(pet);
    const { pet: changed } = await store.changePet.execute(pet.id, MAX, [old]);
    await expect(store.changePet.execute(pet.id, KIM, [old])).rejects.toThrow(CHANGED_SINCE);
    await expect(store.changePet.execute(pet.id, KIM, [])).rejects.toThrow(NO_TAG);
    expect(await store.pets.find(pet.id)).toEqual(changed);
    const { pet: again } = await store.changePet.execute(pet.id, { ...REX }, [
      old,
      await entityTagOf(changed),
    ]);
    // A pet that has become equal again has its old tag.
    expect(await entityTagOf(again)).toBe(old);
  });

  test('checks the change by itself, the record, the pet and the tag, in this order', async () => {
    const change = (...[input, ifMatch, key = 'b', id = 99n]: readonly unknown[]) =>
      store.changePet.execute(id as bigint, input as object, ifMatch as '*', {
        caller: '1',
        key: key as string,
      });
    await store.changePet.execute(pet.id, SOLD, '*', A);
    await expect(change(JSON.parse(INVALID_CHANGES[0] ?? ''), [], 'a')).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await expect(change({}, [], 'a b')).rejects.toThrow(refusal(/^expected one idempotency key/));
    await expect(change(KIM, [], 'a')).rejects.toThrow(OTHER_REQUEST);
    await expect(change(KIM, [])).rejects.toThrow(NO_PET);
    await expect(change(KIM, [], 'b', pet.id)).rejects.toThrow(NO_TAG);
    // A refused request has no record, so its key can be used.
    expect(await change(MAX, '*', 'b', pet.id)).toMatchObject({ isReplay: false });
  });

  test('a repeated request gets the first response, whatever has happened to the pet since', async () => {
    const tag = await entityTagOf(pet);
    const change = (ifMatch: readonly string[]) => store.changePet.execute(pet.id, SOLD, ifMatch, A);
    const first = await change([tag]);
    await store.changePet.execute(pet.id, MAX, '*');
    // A retry after reading again has another tag.
    for (const ifMatch of [[tag], ['"other"']])
      expect(await change(ifMatch)).toEqual({ ...first, isReplay: true });
    await store.removePet.execute(pet.id, '*');
    expect(await change([tag])).toEqual({ ...first, isReplay: true });
  });

  test('equal keys of two callers are two keys', async () => {
    for (const [caller, change] of [
      ['1', SOLD],
      ['2', MAX],
    ] as const)
      expect(await store.changePet.execute(pet.id, change, '*', { caller, key: 'a' })).toMatchObject({
        isReplay: false,
        pet: change,
      });
  });

  test('a repeated request that changed nothing is a replay, too', async () => {
    const change = () => store.changePet.execute(pet.id, {}, '*', A);
    expect((await change()).isReplay).toBe(false);
    await store.changePet.execute(pet.id, MAX, '*');
    expect(await change()).toEqual({ pet, etag: await entityTagOf(pet), isReplay: true });
  });

  test('a replay, and a change without a key that changes nothing, wait until the storage has confirmed earlier writes', async () => {
    store.changes.confirm = vi.fn().mockRejectedValue('unconfirmed');
    const change = (caller?: typeof A) => store.changePet.execute(pet.id, SOLD, '*', caller);
    expect((await change(A)).isReplay).toBe(false);
    for (const caller of [A, undefined]) await expect(change(caller)).rejects.toBe('unconfirmed');
  });

  test('two equal requests at once both succeed, and change the pet once', async () => {
    const tag = await entityTagOf(pet);
    const change = () => store.changePet.execute(pet.id, MAX, [tag], A);
    const results = await Promise.all([change(), change()]);
    expect(results.map(({ isReplay }) => isReplay).sort()).toEqual([false, true]);
    expect(await revision()).toBe(pet.id + 1n);
  });

  test('with any version, begins again while other writers are faster, and gives up with overloaded', async () => {
    let lost = 0;
    const { changes } = store;
    const racing = new ChangePet({
      changes: {
        find: (id) => changes.find(id),
        list: (query) => changes.list(query),
        remove: async () => undefined,
        replace: async (changed, expected) =>
          lost++ < 3 ? undefined : await changes.replace(changed, expected),
      },
      days: 1,
    });
    expect((await racing.execute(pet.id, MAX, '*')).pet).toMatchObject(MAX);
    expect(lost).toBe(4);
    lost = -Infinity;
    await expect(racing.execute(pet.id, KIM, '*')).rejects.toThrow(
      refusal(/^other writers changed the pet 20 times in between/, 'overloaded'),
    );
  });

  test('waits longer and longer for other writers, for a random time of at most 250 ms', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    using _ = vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const times: number[] = [];
    const attempt = async () => void times.push(Date.now());
    const ended = expect(retryLostRace(attempt)).rejects.toMatchObject({ code: 'overloaded' });
    await vi.runAllTimersAsync();
    await ended;
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, ...Array(12).fill(125)]);
  });

  test('a storage without the port for records refuses a key by name', async () => {
    const { changes } = store;
    await expect(new ChangePet({ changes, days: 1 }).execute(pet.id, {}, '*', A)).rejects.toThrow(
      refusal('the idempotency key of a change is not supported by this storage'),
    );
  });
});

describe('RemovePet', () => {
  test('removes a pet once, and a later removal succeeds with any tag', async () => {
    await expect(store.removePet.execute(pet.id, ['"other"'])).rejects.toThrow(CHANGED_SINCE);
    expect(await store.removePet.execute(pet.id, [await entityTagOf(pet)])).toEqual({ isReplay: false });
    expect(await store.pets.find(pet.id)).toBeUndefined();
    const removed = await revision();
    expect(await store.removePet.execute(pet.id, ['"other"'])).toEqual({ isReplay: false });
    expect(await revision()).toBe(removed);
  });

  test('a repeated removal is a replay, and its key is of no other request', async () => {
    const remove = (id = pet.id) => store.removePet.execute(id, '*', A);
    expect(await remove()).toEqual({ isReplay: false });
    expect(await remove()).toEqual({ isReplay: true });
    await expect(remove(pet.id + 1n)).rejects.toThrow(OTHER_REQUEST);
    await expect(store.changePet.execute(pet.id, {}, '*', A)).rejects.toThrow(OTHER_REQUEST);
    expect(await store.removePet.execute(pet.id, '*', { ...A, key: 'b' })).toEqual({ isReplay: false });
    expect(await store.removePet.execute(pet.id, '*', { ...A, key: 'b' })).toEqual({ isReplay: true });
  });

  test('a removed pet cannot be changed, and one that never was cannot be removed', async () => {
    await expect(store.removePet.execute(pet.id + 1n, '*')).rejects.toThrow(NO_PET);
    await store.removePet.execute(pet.id, '*');
    await expect(store.changePet.execute(pet.id, {}, '*')).rejects.toThrow(NO_PET);
  });
});
