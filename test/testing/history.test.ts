import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import { AnimalStoreError, type ErrorCode } from '../../src/domain/errors.ts';
import type { Pet, PetStatus } from '../../src/domain/pet.ts';
import { exercise, History, type PetOperations } from '../../src/testing/index.ts';

type Result = Pet | readonly Pet[] | Error;

/** A store whose calls return what the test says, when the test says so. */
class Script {
  readonly history = new History();
  readonly #settle: ((result: Result) => void)[] = [];

  /** Begins a call, and returns a function that ends it with a result. */
  begin(client: string, call: (store: PetOperations) => Promise<unknown>): (result: Result) => Promise<void> {
    let settle: (result: Result) => void = () => {};
    const result = new Promise<Result>((resolve) => {
      settle = resolve;
    });
    const value = async () => {
      const settled = await result;
      if (settled instanceof Error) throw settled;
      return settled;
    };
    const store: PetOperations = {
      createPet: async () => (await value()) as Pet,
      getPet: async () => (await value()) as Pet,
      listPage: async (query) => {
        const pets = (await value()) as readonly Pet[];
        return { pets: pets.slice(0, query?.limit ?? 20), more: pets.length > (query?.limit ?? 20) };
      },
    };
    const called = call(this.history.record(store, client)).catch(() => {});
    this.#settle.push(settle);
    return async (outcome) => {
      settle(outcome);
      await called;
    };
  }

  /** A call that begins and ends before any other one begins. */
  async call(
    client: string,
    call: (store: PetOperations) => Promise<unknown>,
    result: Result,
  ): Promise<void> {
    await this.begin(client, call)(result);
  }
}

const pet = (id: number, status: PetStatus = 'available'): Pet => ({
  id: BigInt(id),
  name: `pet ${id}`,
  categoryId: 7n,
  status,
});
const create =
  (created: Pet, idempotencyKey?: string) =>
  (store: PetOperations): Promise<Pet> =>
    store.createPet(created, idempotencyKey === undefined ? {} : { idempotencyKey });
const get = (id: number) => (store: PetOperations) => store.getPet(BigInt(id));
const list =
  (after = 0, limit = 20, status?: PetStatus) =>
  (store: PetOperations) =>
    store.listPage({ after, limit, status });
const failure = (code: ErrorCode, idempotencyKey?: string) =>
  new AnimalStoreError(code, 'no', { idempotencyKey });
const NOT_FOUND = failure('not_found');
const LOST = failure('storage_unavailable', 'a');
const [ONE, TWO, THREE] = [pet(1), pet(2), pet(3)] as const;

const HOLDER = { id: 'a', callerId: 'a', name: 'Anna' };

type Scenario = (script: Script) => Promise<void>;

describe('histories that fit one order', () => {
  test.each<[string, Scenario]>([
    [
      'calls one after another',
      async (script) => {
        await script.call('A', get(1), NOT_FOUND);
        await script.call('A', create(ONE), ONE);
        await script.call('B', get(1), ONE);
        await script.call('A', create(TWO), TWO);
        await script.call('B', list(), [ONE, TWO]);
        await script.call('B', list(1, 1), [TWO]);
      },
    ],
    [
      'a concurrent read that sees the greater of two concurrent creates only with the smaller one',
      async (script) => {
        const first = script.begin('A', create(ONE));
        const second = script.begin('B', create(TWO));
        await script.call('C', list(), []);
        await script.call('C', list(), [ONE]);
        await script.call('C', list(), [ONE, TWO]);
        await second(TWO);
        await first(ONE);
      },
    ],
    [
      'a lost create that was stored later, and one that was never stored',
      async (script) => {
        await script.call('A', create(ONE, 'a'), LOST);
        await script.call('A', create(THREE, 'b'), LOST);
        await script.call('B', list(), []);
        await script.call('B', list(), [ONE]);
        await script.call('A', create(ONE, 'a'), ONE);
      },
    ],
    [
      'a refused create that is retried',
      async (script) => {
        await script.call('A', create(ONE, 'a'), failure('overloaded'));
        await script.call('B', get(1), NOT_FOUND);
        await script.call('A', create(ONE, 'a'), ONE);
        await script.call('A', create(TWO, 'a'), failure('idempotency_conflict'));
      },
    ],
    [
      'a page that has more pets, which nobody has read',
      async (script) => {
        await script.call('A', create(ONE), ONE);
        await script.call('A', create(TWO, 'a'), LOST);
        await script.call('B', list(0, 1), [ONE, TWO]);
      },
    ],
    [
      'a call that has not returned',
      async (script) => {
        script.begin('A', create(ONE));
        await script.call('B', list(), [ONE]);
      },
    ],
  ])('%s', async (_name, scenario) => {
    const script = new Script();
    await scenario(script);
    expect(script.history.contradiction()).toBeUndefined();
  });
});

describe('histories that fit no order', () => {
  test.each<[string, string, Scenario]>([
    [
      'a list that misses a smaller id',
      'list limit=20 after=0 (B) saw pet 2 and missed pet 1',
      async (script) => {
        const first = script.begin('A', create(ONE));
        await script.call('A', create(TWO), TWO);
        await script.call('B', list(), [TWO]);
        await first(ONE);
      },
    ],
    [
      'a get that misses a smaller id',
      'get 1 (B) missed pet 1, but began after get 2 (B) saw pet 2',
      async (script) => {
        const first = script.begin('A', create(ONE));
        const second = script.begin('A', create(TWO));
        await script.call('B', get(2), TWO);
        await script.call('B', get(1), NOT_FOUND);
        await second(TWO);
        await first(ONE);
      },
    ],
    [
      'a stale read',
      "list limit=20 after=0 (B) missed pet 1, but began after create 'pet 1' (A) stored pet 1",
      async (script) => {
        await script.call('A', create(ONE), ONE);
        await script.call('B', list(), []);
      },
    ],
    [
      'a stale page with a limit',
      "list limit=1 after=0 (B) missed pet 2, but began after create 'pet 2' (A) stored pet 2",
      async (script) => {
        await script.call('A', create(ONE), ONE);
        await script.call('A', create(TWO), TWO);
        await script.call('B', list(0, 1), [ONE]);
      },
    ],
    [
      'an id below that of an earlier create',
      "create 'pet 1' (A) got id 1, but began after create 'pet 2' (A) stored pet 2",
      async (script) => {
        await script.call('A', create(TWO), TWO);
        await script.call('A', create(ONE), ONE);
      },
    ],
    [
      'a pet that disappears',
      'get 1 (B) missed pet 1, but began after get 1 (B) saw pet 1',
      async (script) => {
        await script.call('A', create(ONE, 'a'), LOST);
        await script.call('B', get(1), ONE);
        await script.call('B', get(1), NOT_FOUND);
      },
    ],
    [
      'an id that is given twice',
      "create 'pet 2' (B) got id 1, as create 'pet 1' (A) did",
      async (script) => {
        await script.call('A', create(ONE), ONE);
        await script.call('B', create(TWO), { ...TWO, id: 1n });
      },
    ],
    [
      'a retry that stores a second pet',
      "create 'pet 1' key=a (A) returned id 2, and create 'pet 1' key=a (A) id 1",
      async (script) => {
        await script.call('A', create(ONE, 'a'), ONE);
        await script.call('A', create(ONE, 'a'), { ...ONE, id: 2n });
      },
    ],
    [
      'a lost create that is stored twice',
      "list limit=20 after=0 (B) saw pet 2 'pet 1', and create 'pet 1' key=a (A) stored it as pet 1",
      async (script) => {
        await script.call('A', create(ONE, 'a'), LOST);
        await script.call('A', create(ONE, 'a'), ONE);
        await script.call('B', list(), [ONE, { ...ONE, id: 2n }]);
      },
    ],
    [
      'a replay of another pet',
      "create 'pet 1' key=a (A) returned another pet, 'pet 2'",
      async (script) => {
        await script.call('A', create(ONE, 'a'), TWO);
      },
    ],
    [
      'a refused create that is stored',
      "get 1 (B) saw pet 1 'pet 1', and create 'pet 1' (A) was refused",
      async (script) => {
        await script.call('A', create(ONE), failure('overloaded'));
        await script.call('B', get(1), ONE);
      },
    ],
    [
      'a retry that is refused for another pet',
      "create 'pet 1' key=a (A) was refused, but its key was used for no other pet",
      async (script) => {
        await script.call('A', create(ONE, 'a'), ONE);
        await script.call('A', create(ONE, 'a'), failure('idempotency_conflict'));
      },
    ],
    [
      'a pet that nobody created',
      "get 9 (B) saw pet 9 'pet 9', which nobody created",
      async (script) => {
        await script.call('B', get(9), pet(9));
      },
    ],
    [
      'a pet that changes',
      "get 1 (B) saw pet 1 as 'Bella', which was 'pet 1'",
      async (script) => {
        await script.call('A', create(ONE), ONE);
        await script.call('B', get(1), { ...ONE, name: 'Bella' });
      },
    ],
    [
      'a get that returns another pet',
      'get 2 (B) returned pet 1',
      async (script) => {
        await script.call('A', create(ONE), ONE);
        await script.call('B', get(2), ONE);
      },
    ],
    [
      'a list that ignores its status',
      'list limit=20 status=sold after=0 (B) returned pet 1, which is available',
      async (script) => {
        await script.call('A', create(ONE), ONE);
        await script.call('B', list(0, 20, 'sold'), [ONE]);
      },
    ],
    [
      'a list that ignores its start',
      'list limit=20 after=1 (B) returned pet 1 out of order',
      async (script) => {
        await script.call('A', create(ONE), ONE);
        await script.call('B', list(1), [ONE]);
      },
    ],
    [
      'a page that promises more pets',
      'list limit=1 after=0 (B) said that there are more pets, and there were none',
      async (script) => {
        await script.call('A', create(ONE), ONE);
        await script.call('B', async (store) => store.listPage({ after: 0, limit: 1 }), [ONE, TWO]);
      },
    ],
  ])('%s', async (_name, message, scenario) => {
    const script = new Script();
    await scenario(script);
    expect(script.history.contradiction()).toBe(message);
  });
});

/** Wraps a store with a fault, as an adapter that breaks its contract would have it. */
type Fault = (store: AnimalStore) => PetOperations;

const FAULTS: Readonly<Record<string, Fault>> = {
  'a cached page survives a create': (store) => {
    const cached = new Map<string, ReturnType<AnimalStore['listPage']>>();
    return {
      createPet: (...args) => store.createPet(...args),
      getPet: (id) => store.getPet(id),
      listPage: (query = {}) => {
        const text = [query.limit, query.status, query.after].join();
        const page = cached.get(text) ?? store.listPage(query);
        cached.set(text, page);
        return page;
      },
    };
  },
  'idempotency keys are forgotten': (store) => ({
    createPet: (input) => store.createPet(input),
    getPet: (id) => store.getPet(id),
    listPage: (query) => store.listPage(query),
  }),
  'a list with a status skips a pet': (store) => ({
    createPet: (...args) => store.createPet(...args),
    getPet: (id) => store.getPet(id),
    listPage: async (query = {}) => {
      const { pets, more } = await store.listPage(query);
      return { pets: query.status !== undefined && pets.length > 3 ? pets.toSpliced(1, 1) : pets, more };
    },
  }),
};

describe('exercise', () => {
  test('a store in memory fits one order', async () => {
    const store = new AnimalStore(openMemoryStorage());
    const history = new History();
    await exercise(history, [store, store], { calls: 200 });
    expect(history.contradiction()).toBeUndefined();
    expect(history.size).toBeGreaterThan(1500);
    await store.close();
  });

  test.each(Object.entries(FAULTS))('is enough to show that %s', async (_name, faulty) => {
    const store = new AnimalStore(openMemoryStorage());
    const history = new History();
    await exercise(history, [faulty(store)], { calls: 200 });
    expect(history.contradiction()).toEqual(expect.any(String));
    await store.close();
  });
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
