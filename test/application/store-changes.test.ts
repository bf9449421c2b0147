/** The calls of a store that change, remove and follow pets. */

import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import type { Change, ChangeUseCases } from '../../src/application/change-calls.ts';
import { entityTagOf, type TaggedPet } from '../../src/application/entity-tag.ts';
import { nextTurn } from '../../src/application/pause.ts';
import type { Storage } from '../../src/application/ports/storage.ts';
import { createUseCases } from '../../src/application/use-cases.ts';
import { AnimalStoreError } from '../../src/domain/errors.ts';
import type { Pet } from '../../src/domain/pet.ts';
import type { PetChange } from '../../src/domain/pet-change.ts';
import { numberedPet, numberOf } from '../../src/testing/fixtures/pets.ts';
import { numberedChange, REX } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

let storage: Storage;
let store: AnimalStore;
let pet: Pet;

beforeEach(async () => {
  storage = openMemoryStorage();
  store = new AnimalStore(storage);
  onTestFinished(() => store.close());
  pet = await store.createPet(numberedPet(0n));
});

const increment = (each: Pet) => numberedChange(numberOf(each) + 1n);
const [CHANGE, OTHER_CHANGE] = [numberedChange(7), numberedChange(8)];
const CHANGED_SINCE = refusal(/^the pet has changed since/, 'precondition_failed');

describe('changePet', () => {
  test('resolves with the pet and its entity tag, which is the ifMatch of the next change', async () => {
    const tag = await entityTagOf(pet);
    const changed = await store.changePet(Number(pet.id), CHANGE, { ifMatch: tag });
    const expected = { ...pet, ...CHANGE } as Pet;
    expect(changed).toEqual({ pet: expected, etag: await entityTagOf(expected) });
    expect(Object.isFrozen(changed.pet)).toBe(true);
    await expect(store.changePet(pet.id, OTHER_CHANGE, { ifMatch: tag })).rejects.toThrow(CHANGED_SINCE);
    await expect(store.changePet(pet.id, increment, { ifMatch: tag })).rejects.toThrow(CHANGED_SINCE);
    await store.changePet(pet.id, OTHER_CHANGE, { ifMatch: changed.etag });
    await store.changePet(pet.id, CHANGE, { ifMatch: '*' });
    expect(await store.getPet(pet.id)).toEqual(expected);
  });

  test('applies functions of several callers one after the other, asynchronous ones too', async () => {
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        store.changePet(pet.id, index % 2 === 0 ? increment : async (each) => increment(each)),
      ),
    );
    expect(numberOf(await store.getPet(pet.id))).toBe(8n);
  });

  test('ends with the error of the function, also with one that has the code of a change by others', async () => {
    const thrown = new AnimalStoreError('precondition_failed', 'of another store');
    const change = vi.fn(() => Promise.reject(thrown));
    await expect(store.changePet(pet.id, change)).rejects.toBe(thrown);
    expect(change).toHaveBeenCalledOnce();
  });

  test('calls no function when an option is wrong, or when the store is closed', async () => {
    const change = vi.fn(increment);
    await expect(store.changePet(pet.id, change, { ifMatch: 'a' })).rejects.toThrow(refusal(/^ifMatch: /));
    await store.close();
    await expect(store.changePet(pet.id, change)).rejects.toThrow('the store is closed');
    expect(change).not.toHaveBeenCalled();
  });

  test('ends with the store, even while its function never ends', async () => {
    const change = vi.fn(() => new Promise<never>(() => {}));
    const changing = store.changePet(pet.id, change);
    await vi.waitFor(() => expect(change).toHaveBeenCalledOnce());
    await store.close();
    await expect(changing).rejects.toThrow('the store is closed');
  });

  test('is completed by close when its function has returned', async () => {
    const { replace } = storage.changes;
    let closing: Promise<void> | undefined;
    storage.changes.replace = async (...args) => {
      closing = store.close();
      return await replace(...args);
    };
    const { pet: changed } = await store.changePet(pet.id, increment);
    await closing;
    expect(numberOf(changed)).toBe(1n);
  });

  test('is completed by close, as a create is', async () => {
    const { find } = storage.changes;
    storage.changes.find = (...query) => nextTurn().then(() => find.apply(storage.changes, query));
    const writes = [store.createPet(REX), store.changePet(pet.id, CHANGE), store.removePet(pet.id)];
    await store.close();
    expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual(
      Array(3).fill('fulfilled'),
    );
    await expect(storage.pets.find(pet.id)).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  test.each([null, undefined, 'x', []])('refuses the change %j, also of a function', async (change) => {
    const refused = refusal('expected a change, an object with the new values of attributes');
    await expect(store.changePet(pet.id, change as never)).rejects.toThrow(refused);
    await expect(store.changePet(pet.id, () => change as never)).rejects.toThrow(refused);
  });

  test('with an idempotency key of this program, a repeated change has the first result', async () => {
    const options = { idempotencyKey: 'a' };
    const first = await store.changePet(pet.id, CHANGE, options);
    await store.changePet(pet.id, OTHER_CHANGE);
    expect(await store.changePet(pet.id, CHANGE, options)).toEqual(first);
    await expect(store.createPet(REX, options)).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });
});

test('removePet removes a pet once, and refuses another version', async () => {
  await expect(store.removePet(pet.id, { ifMatch: '"a"' })).rejects.toThrow(CHANGED_SINCE);
  for (const options of [{ ifMatch: await entityTagOf(pet) }, { ifMatch: '"a"' }, { idempotencyKey: 'a' }])
    await store.removePet(pet.id, options);
  expect(await store.removePetOnce(pet.id, undefined, { idempotencyKey: 'a' })).toEqual({ isReplay: true });
  await expect(store.getPet(pet.id)).rejects.toMatchObject({ code: 'not_found' });
});

type Call = (options: object, id?: bigint) => Promise<unknown>;
const CHANGING: readonly (readonly [string, Call])[] = [
  ['changePet', (options, id = 1n) => store.changePet(id, CHANGE, options)],
  ['removePet', (options, id = 1n) => store.removePet(id, options)],
];
const READING: readonly (readonly [string, Call])[] = [
  ['listChanges', (options) => store.listChanges({}, options)],
  ['followChanges', (options) => store.followChanges(options).next()],
];

test.each([...CHANGING, ...READING])('%s refuses options that would have no effect', async (name, call) => {
  await expect(call({ ifmatch: '"a"' })).rejects.toThrow(refusal(/^unknown option ifmatch: expected /));
  const signal = { aborted: false, addEventListener() {}, throwIfAborted() {} };
  await expect(call({ signal })).rejects.toThrow(refusal('signal: expected an AbortSignal, got object'));
  await expect(call({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
  if (name !== 'followChanges')
    await expect(call({ timeout: 0 })).rejects.toThrow(refusal(/^timeout: expected a number/));
  expect((await store.listChanges()).changes).toMatchObject([{ pet }]);
});

test('an entity tag has double quotes, and is refused where it would have no effect', async () => {
  for (const ifMatch of [
    7 as never,
    Object('"a"') as never,
    [['"a"']] as never,
    ['"a"', 'b'],
    ['*'],
    'a',
    '"a',
    'W/"a"',
    '"a", "b"',
    '**',
  ])
    await expect(store.removePet(pet.id, { ifMatch })).rejects.toThrow(
      refusal(
        /^ifMatch: expected a strong entity tag, which begins and ends with a double quote, an array of them, or \*, got /,
      ),
    );
  await expect(store.changePet(pet.id, {}, { ifMatch: '"a"' })).rejects.toThrow(CHANGED_SINCE);
  await store.changePet(pet.id, {}, { ifMatch: '*' });
  await store.changePet(pet.id, {}, { ifMatch: ['"a"', await entityTagOf(pet)] });
  const options: object = { ifMatch: '"a"' };
  for (const call of [() => store.createPet(REX, options), () => store.getPet(pet.id, options)])
    await expect(call()).rejects.toThrow(refusal(/^unknown option ifMatch/));
});

test('the query of changes has no other members than limit and after', async () => {
  const query = { 'x-hue': 'red' };
  await expect(store.listChanges(query as never)).rejects.toThrow(refusal(/^unknown option x-hue/));
  const malformed = { after: '' };
  await expect(store.listChanges(malformed)).rejects.toThrow(refusal(/^after must be a cursor/));
  await expect(store.followChanges(malformed).next()).rejects.toThrow(refusal(/^after must be a cursor/));
});

test.each(CHANGING)('%s finds no pet with an id that is no int64, as getPet does', async (_, call) => {
  await expect(call({}, 2n ** 63n)).rejects.toMatchObject({ code: 'not_found' });
});

test.each<readonly [string, Call]>([
  ...CHANGING,
  ['the change of a function', (options) => store.changePet(1n, increment, options)],
  [
    'the change of a function with a key, which must not be called again with this key',
    (options) => store.changePet(1n, increment, { ...options, idempotencyKey: 'a' }),
  ],
])('an abort during %s says that the pet may be changed', async (_, call) => {
  const begun = Promise.withResolvers<void>();
  const stall = () => {
    begun.resolve();
    return new Promise<never>(() => {});
  };
  storage.changes.find = stall;
  storage.idempotentChanges.find = stall;
  const controller = new AbortController();
  const calling = call({ signal: controller.signal });
  await begun.promise;
  controller.abort(new Error('enough'));
  await expect(calling).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: 'the change was aborted; the pet may be changed',
    idempotencyKey: undefined,
    cause: controller.signal.reason,
  });
});

test.each([1, 2])(
  'an abort during run %i of a function has the reason of the signal, because nothing was changed',
  async (last) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    let runs = 0;
    const stop = async (): Promise<PetChange> => {
      runs += 1;
      if (runs < last) return store.changePet(pet.id, OTHER_CHANGE).then(() => CHANGE);
      controller.abort(reason);
      return new Promise(() => {});
    };
    await expect(store.changePet(pet.id, stop, { signal: controller.signal })).rejects.toBe(reason);
  },
);

test('a follower sees each state, the later ones too, and ends when its cursors are refused', async () => {
  const follower = store.followChanges({ interval: 1 });
  const next = async () => (await follower.next()).value as Change;
  const created = await next();
  expect(created).toEqual({ cursor: created.cursor, pet, etag: await entityTagOf(pet) });
  const later = next();
  const { pet: changed, etag } = await store.changePet(pet.id, CHANGE);
  expect(await later).toMatchObject({ pet: changed, etag });
  await store.removePet(pet.id);
  const removed = await next();
  expect(removed).toEqual({ cursor: removed.cursor, removed: pet.id });
  await store.beginEpoch();
  await expect(follower.next()).rejects.toMatchObject({ code: 'restart_required' });
  expect(await follower.next()).toMatchObject({ done: true });
});

describe('a function whose change may have been made by a request that was lost', () => {
  const changedSince = new AnimalStoreError('precondition_failed', 'the pet has changed since');
  const unknown = new AnimalStoreError('storage_unavailable', 'lost', {
    cause: changedSince,
    idempotencyKey: 'k',
  });
  const others = Array.from({ length: 19 }, () => changedSince);
  const later: TaggedPet = { pet: { id: 1n, ...numberedPet(9n) }, etag: '"later"' };

  function remoteStore(...outcomes: readonly (Error | undefined)[]) {
    const left = [...outcomes];
    const execute = vi.fn<ChangeUseCases['changePet']['execute']>(async () => {
      const error = left.shift();
      if (error !== undefined) throw error;
      return { ...later, isReplay: false };
    });
    const { changes, ...useCases } = createUseCases(storage);
    const remote = changes && { ...changes, changePet: { execute } };
    return { remote: new AnimalStore(storage, { ...useCases, changes: remote }), execute };
  }

  test('goes on with the key of that request, so that one of the two changes is made', async () => {
    const { remote, execute } = remoteStore(changedSince, unknown, changedSince, undefined);
    expect(await remote.changePet(pet.id, increment)).toEqual(later);
    const keys = execute.mock.calls.map(([, , , caller]) => caller?.key);
    expect(keys).toEqual([undefined, undefined, 'k', 'k']);
  });

  test.each([
    ['was made after all', 'idempotency_conflict', [new AnimalStoreError('idempotency_conflict', 'no')]],
    ['can no longer be found out', 'overloaded', others],
  ])('says that the pet must be read when the outcome %s', async (_, code, later) => {
    const { remote } = remoteStore(unknown, ...later);
    const error = await remote.changePet(pet.id, increment).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'storage_unavailable',
      message: 'an earlier request may have changed the pet: read it, then decide',
      idempotencyKey: undefined,
      cause: expect.objectContaining({ code }),
    });
  });

  test('says that the pet must be read when a later run of the function is aborted', async () => {
    const controller = new AbortController();
    const cause = new Error('enough');
    const change = vi.fn(increment).mockImplementationOnce(increment);
    change.mockImplementationOnce(() => {
      controller.abort(cause);
      return new Promise<never>(() => {}) as never;
    });
    const { remote } = remoteStore(unknown);
    await expect(remote.changePet(pet.id, change, { signal: controller.signal })).rejects.toMatchObject({
      message: 'an earlier request may have changed the pet: read it, then decide',
      cause,
    });
  });

  test('keeps the cause of an unknown outcome, and has no key, unlike the error of an object', async () => {
    const cause = new TypeError('the connection was lost');
    const lost = new AnimalStoreError('storage_unavailable', 'unknown', { cause, idempotencyKey: 'k' });
    const { remote } = remoteStore(lost);
    await expect(remote.changePet(pet.id, increment)).rejects.toMatchObject({
      cause,
      idempotencyKey: undefined,
    });
    const stalled = remoteStore();
    stalled.execute.mockReturnValue(new Promise(() => {}));
    const options = { idempotencyKey: 'own', signal: AbortSignal.timeout(1) };
    await expect(stalled.remote.changePet(pet.id, {}, options)).rejects.toMatchObject({
      idempotencyKey: 'own',
    });
  });

  test('keeps the reason of a conflict', async () => {
    const used = new AnimalStoreError('idempotency_conflict', 'used for a create');
    const change = remoteStore(used).remote.changePet(pet.id, increment, { idempotencyKey: 'k' });
    await expect(change).rejects.toMatchObject({ code: used.code, cause: used });
  });

  test('rejects with another error as it is, and with overloaded if no response was lost', async () => {
    const failure = new TypeError('no AnimalStoreError');
    await expect(remoteStore(failure).remote.changePet(pet.id, increment)).rejects.toBe(failure);
    const { remote } = remoteStore(changedSince, ...others);
    await expect(remote.changePet(pet.id, increment)).rejects.toMatchObject({ code: 'overloaded' });
  });
});
