import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AnimalStoreError, type ErrorCode } from '../../src/domain/errors.ts';
import type { Pet } from '../../src/domain/pet.ts';
import { matches, type PetFilter } from '../../src/domain/pet-filter.ts';
import { FEW_FILTERS } from '../../src/testing/fixtures/filters.ts';
import { labelOf, numberedPet } from '../../src/testing/fixtures/pets.ts';
import { History, type PetOperations } from '../../src/testing/index.ts';

type Result = Pet | readonly Pet[] | Error;

type Call = (store: PetOperations) => Promise<unknown>;

/** A step begins a call, ends one, or, when it has both a call and a result, does both before any other one begins. */
type Step = readonly [client: string, call: Call | undefined, result?: Result];

/** Returns the history of calls on a store that returns what the steps say. Each client waits for one call. */
async function historyOf(steps: readonly Step[]): Promise<History> {
  const history = new History();
  const waiting = new Map<string, (result: Result) => Promise<void>>();
  for (const [client, call, result] of steps) {
    if (call !== undefined) waiting.set(client, begin(history, client, call));
    if (result !== undefined) await waiting.get(client)?.(result);
  }
  return history;
}

/** Begins a call, and returns a function that ends it with a result. */
function begin(history: History, client: string, call: Call): (result: Result) => Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<Exclude<Result, Error>>();
  const store: PetOperations = {
    createPet: () => promise as Promise<Pet>,
    getPet: () => promise as Promise<Pet>,
    listPage: async ({ limit = 20 } = {}) => {
      const pets = (await promise) as readonly Pet[];
      return { pets: pets.slice(0, limit), more: pets.length > limit };
    },
  };
  const called = call(history.record(store, client)).catch(() => {});
  return async (result) => {
    if (result instanceof Error) reject(result);
    else resolve(result);
    await called;
  };
}

const pet = (id: number): Pet => ({ id: BigInt(id), ...numberedPet(BigInt(id)) });
const label = (id: number) => `'${labelOf(pet(id))}'`;
const create =
  (created: Pet, idempotencyKey?: string) =>
  (store: PetOperations): Promise<Pet> =>
    store.createPet(created, idempotencyKey === undefined ? {} : { idempotencyKey });
const get = (id: number) => (store: PetOperations) => store.getPet(BigInt(id));
const list =
  (after = 0, limit = 20, filter: PetFilter = {}) =>
  (store: PetOperations) =>
    store.listPage({ after, limit, ...filter });
const failure = (code: ErrorCode, idempotencyKey?: string) =>
  new AnimalStoreError(code, 'no', { idempotencyKey });
const NOT_FOUND = failure('not_found');
const LOST = failure('storage_unavailable', 'a');
const [ONE, TWO, THREE] = [pet(1), pet(2), pet(3)] as const;

const defined = (filter: PetFilter) => Object.entries(filter).filter(([, value]) => value !== undefined);

/** Filters that the pet ONE does not match, each with its text in a message. */
const UNLIKE_ONE = FEW_FILTERS.filter((filter) => !matches(ONE, filter)).map(
  (filter) =>
    [
      filter,
      defined(filter)
        .map(([name, value]) => `${name}=${encodeURIComponent(`${value}`)}`)
        .join(' '),
    ] as const,
);

const HOLDER = { id: 'a', callerId: 'a', name: 'Anna' };

test.each<[string, ...Step[]]>([
  [
    'calls one after another',
    ['A', get(1), NOT_FOUND],
    ['A', create(ONE), ONE],
    ['B', get(1), ONE],
    ['A', create(TWO), TWO],
    ['B', list(), [ONE, TWO]],
    ['B', list(1, 1), [TWO]],
  ],
  [
    'a concurrent read that sees the greater of two concurrent creates only with the smaller one',
    ['A', create(ONE)],
    ['B', create(TWO)],
    ['C', list(), []],
    ['C', list(), [ONE]],
    ['C', list(), [ONE, TWO]],
    ['B', undefined, TWO],
    ['A', undefined, ONE],
  ],
  [
    'a lost create that was stored later, and one that was never stored',
    ['A', create(ONE, 'a'), LOST],
    ['A', create(THREE, 'b'), LOST],
    ['B', list(), []],
    ['B', list(), [ONE]],
    ['A', create(ONE, 'a'), ONE],
  ],
  [
    'a refused create that is retried',
    ['A', create(ONE, 'a'), failure('overloaded')],
    ['B', get(1), NOT_FOUND],
    ['A', create(ONE, 'a'), ONE],
    ['A', create(TWO, 'a'), failure('idempotency_conflict')],
  ],
  [
    'a lost create that a page counts',
    ['A', create(ONE), ONE],
    ['A', create(TWO, 'a'), LOST],
    ['B', list(0, 1), [ONE, TWO]],
    ['A', create(THREE), THREE],
  ],
  ['a call that has not returned', ['A', create(ONE)], ['B', list(), [ONE]]],
])('a history that fits one order: %s', async (_name, ...steps) => {
  expect((await historyOf(steps)).contradiction()).toBeUndefined();
});

test.each<[string, string, ...Step[]]>([
  [
    'a list that misses a smaller id',
    'list limit=20 after=0 (B) saw pet 2 and missed pet 1',
    ['A', create(ONE)],
    ['C', create(TWO), TWO],
    ['B', list(), [TWO]],
    ['A', undefined, ONE],
  ],
  [
    'a stale read',
    `list limit=20 after=0 (B) missed pet 1, but began after create ${label(1)} (A) stored pet 1`,
    ['A', create(ONE), ONE],
    ['B', list(), []],
  ],
  [
    'an id below that of an earlier create',
    `create ${label(1)} (A) got id 1, but began after create ${label(2)} (A) stored pet 2`,
    ['A', create(TWO), TWO],
    ['A', create(ONE), ONE],
  ],
  [
    'a pet that disappears',
    'get 1 (B) missed pet 1, but began after get 1 (B) saw pet 1',
    ['A', create(ONE, 'a'), LOST],
    ['B', get(1), ONE],
    ['B', get(1), NOT_FOUND],
  ],
  [
    'an id that is given twice',
    `create ${label(2)} (B) got id 1, as create ${label(1)} (A) did`,
    ['A', create(ONE), ONE],
    ['B', create(TWO), { ...TWO, id: 1n }],
  ],
  [
    'a retry that stores a second pet',
    `create ${label(1)} key=a (A) returned id 2, and create ${label(1)} key=a (A) id 1`,
    ['A', create(ONE, 'a'), ONE],
    ['A', create(ONE, 'a'), { ...ONE, id: 2n }],
  ],
  [
    'a lost create that is stored twice',
    `list limit=20 after=0 (B) saw pet 2 ${label(1)}, and create ${label(1)} key=a (A) stored it as pet 1`,
    ['A', create(ONE, 'a'), LOST],
    ['A', create(ONE, 'a'), ONE],
    ['B', list(), [ONE, { ...ONE, id: 2n }]],
  ],
  [
    'a replay of another pet',
    `create ${label(1)} key=a (A) returned another pet, ${label(2)}`,
    ['A', create(ONE, 'a'), TWO],
  ],
  [
    'a refused create that is stored',
    `get 1 (B) saw pet 1 ${label(1)}, and create ${label(1)} (A) was refused`,
    ['A', create(ONE), failure('overloaded')],
    ['B', get(1), ONE],
  ],
  [
    'a retry that is refused for another pet',
    `create ${label(1)} key=a (A) was refused, but its key was used for no other pet`,
    ['A', create(ONE, 'a'), ONE],
    ['A', create(ONE, 'a'), failure('idempotency_conflict')],
  ],
  [
    'a pet that nobody created',
    `get 9 (B) saw pet 9 ${label(9)}, which nobody created`,
    ['B', get(9), pet(9)],
  ],
  [
    'a pet that changes',
    `get 1 (B) saw pet 1 as ${label(2)}, which was ${label(1)}`,
    ['A', create(ONE), ONE],
    ['B', get(1), { ...TWO, id: 1n }],
  ],
  ['a get that returns another pet', 'get 2 (B) returned pet 1', ['A', create(ONE), ONE], ['B', get(2), ONE]],
  ...UNLIKE_ONE.slice(0, 1).map(([filter, text]): [string, string, ...Step[]] => [
    'a list that ignores its filter',
    `list limit=20 ${text} after=0 (B) returned pet 1, which does not match`,
    ['A', create(ONE), ONE],
    ['B', list(0, 20, filter), [ONE]],
  ]),
  [
    'a list that ignores its start',
    'list limit=20 after=1 (B) returned pet 1 out of order',
    ['A', create(ONE), ONE],
    ['B', list(1), [ONE]],
  ],
  [
    'a page that promises more pets',
    'list limit=1 after=0 (B) said that there are more pets, and there were none',
    ['A', create(ONE), ONE],
    ['B', list(0, 1), [ONE, TWO]],
  ],
  [
    'a page that promises a pet which is created later',
    'list limit=1 after=0 (B) said that there are more pets, and there were none',
    ['A', create(ONE), ONE],
    ['B', list(0, 1), [ONE, TWO]],
    ['A', create(TWO), TWO],
  ],
  [
    'a read that misses a promised pet',
    'get 2 (B) missed pet 2, but began after list limit=1 after=0 (B) promised pet 2',
    ['A', create(ONE), ONE],
    ['A', create(TWO)],
    ['B', list(0, 1), [ONE, TWO]],
    ['B', get(2), NOT_FOUND],
    ['A', undefined, TWO],
  ],
])('a history that fits no order: %s', async (_name, message, ...steps) => {
  expect((await historyOf(steps)).contradiction()).toBe(message);
});

test.each([
  ['refused after its creation', [undefined], 'verify key a (A) refused a key 1 ms after create key a (A)'],
  [
    'accepted after its revocation',
    [HOLDER, HOLDER],
    'verify key a (A) accepted a key 1 ms after revoke key a (A)',
  ],
  ['accepted until its revocation', [HOLDER, undefined], undefined],
])('an API key that is %s', async (_name, answers, contradiction) => {
  const history = new History();
  const left = [...answers];
  const store = history.recordKeys(
    {
      apiKeys: { create: async () => ({ key: 'secret', about: { id: 'a' } }), revoke: async () => {} },
      verifyApiKey: async () => left.shift(),
    },
    'A',
  );
  const { key } = await store.apiKeys.create('Anna');
  await setTimeout(5);
  await store.verifyApiKey(key);
  if (left.length > 0) {
    await store.apiKeys.revoke('a');
    await setTimeout(5);
    await store.verifyApiKey(key);
  }
  expect(history.contradiction(1)).toBe(contradiction);
});
