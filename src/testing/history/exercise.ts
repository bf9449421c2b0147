/** Calls stores from several clients at once, and records the calls. */

import { setTimeout as sleep } from 'node:timers/promises';
import { asAnimalStoreError } from '../../domain/errors.ts';
import type { NewPetInput, Pet } from '../../domain/pet.ts';
import { filterable, SAMPLE_FILTERS } from '../fixtures/filters.ts';
import { samplePet } from '../fixtures/pets.ts';
import { type Random, randomNumbers } from '../random.ts';
import type { History, PetOperations } from './history.ts';

/** The options of {@link exercise}. */
export interface ExerciseOptions {
  /** The number of calls of each client. Default: 100. */
  readonly calls?: number | undefined;
  /** The number of clients of each store. Default: 4. */
  readonly clients?: number | undefined;
  /** Determines the random calls of the clients, except where they depend on the timing of the stores. Default: 1. */
  readonly seed?: number | undefined;
  /** Whether the stores support idempotency keys. Default: true. */
  readonly hasIdempotencyKeys?: boolean | undefined;
  /** When this signal is aborted, the clients make no more calls. */
  readonly signal?: AbortSignal | undefined;
}

/** The pause after a failed call, in milliseconds. */
export const PAUSE = 5;
const LIMITS = [1, 2, 3, 20, 100] as const;

/**
 * Lets several clients concurrently call stores that share their pets, and records the calls in `history`: creates with and without
 * idempotency keys, retries on any store, reads of pets that exist or do not exist yet, and lists with various limits, filters and
 * start ids. At the end, lists all pets of each store. A client continues after a call that fails with an `AnimalStoreError`.
 */
export async function exercise(
  history: History,
  stores: readonly PetOperations[],
  options: ExerciseOptions = {},
): Promise<void> {
  const { calls = 100, clients = 4, seed = 1, hasIdempotencyKeys = true, signal } = options;
  const recorded = stores.map((store, index) => history.record(store, `store ${index + 1}`));
  const shared: Shared = { stores: recorded, hasIdempotencyKeys, keyed: [], maxId: 0n, created: 0 };
  await Promise.all(
    stores.flatMap((store, index) =>
      Array.from({ length: clients }, async (_, number) => {
        const client = `client ${index + 1}.${number + 1}`;
        const random = randomNumbers(seed * 1009 + index * 101 + number);
        const callOnce = callerOf(client, history.record(store, client), shared, random);
        for (let call = 0; call < calls && signal?.aborted !== true; call += 1) await callOnce();
      }),
    ),
  );
  for (const store of recorded) await listAll(store);
}

/** The state that the clients share, so that they read pets that others have just created, and retry creates of others. */
interface Shared {
  readonly stores: readonly PetOperations[];
  readonly hasIdempotencyKeys: boolean;
  /** The creates with an idempotency key. Any client may retry them. */
  readonly keyed: { readonly pet: NewPetInput; readonly idempotencyKey: string }[];
  maxId: bigint;
  created: number;
}

/** Returns a function that makes one random call of a client. */
function callerOf(client: string, store: PetOperations, shared: Shared, random: Random): () => Promise<void> {
  /** The id of the last pet in the pages that {@link follow} has read. */
  let followed = 0n;

  function see(...pets: readonly Pet[]): void {
    for (const { id } of pets) if (id > shared.maxId) shared.maxId = id;
  }

  function newPetInput(): NewPetInput {
    shared.created += 1;
    const name = `pet ${shared.created} of ${client}`;
    return filterable(samplePet(name, random(1000) - 500), random(1000));
  }

  /** Returns an id, usually near the greatest one. It can be the id of a pet that does not exist yet. */
  function someId(): bigint {
    const id = shared.maxId + 3n - BigInt(random(random(4) === 0 ? 500 : 12));
    return id < 1n ? 1n : id;
  }

  async function createOnce(): Promise<void> {
    const { keyed, hasIdempotencyKeys, stores } = shared;
    if (!hasIdempotencyKeys) return follow();
    const earlier = keyed[keyed.length - 1 - random(20)];
    const chance = random(10);
    if (earlier !== undefined && chance < 3) {
      const { pet, idempotencyKey } = earlier;
      await store.createPet(pet, { idempotencyKey });
    } else if (earlier !== undefined && chance < 4) {
      await store.createPet(newPetInput(), { idempotencyKey: earlier.idempotencyKey });
    } else {
      const pet = newPetInput();
      const idempotencyKey = `key ${shared.created} of ${client}`.replaceAll(' ', '-');
      keyed.push({ pet, idempotencyKey });
      const other = stores[random(stores.length)];
      const attempts = [store, ...(chance < 7 && other !== undefined ? [other] : [])];
      const results = await Promise.allSettled(
        attempts.map((each) => each.createPet(pet, { idempotencyKey })),
      );
      for (const result of results) {
        if (result.status === 'rejected') throw result.reason;
        see(result.value);
      }
    }
  }

  async function follow(): Promise<void> {
    const { pets } = await store.listPage({ after: followed, limit: 100 });
    see(...pets);
    followed = pets.at(-1)?.id ?? followed;
  }

  async function list(): Promise<void> {
    const limit = LIMITS[random(LIMITS.length)] ?? 1;
    const filter = SAMPLE_FILTERS[random(SAMPLE_FILTERS.length)];
    const after = random(4) === 0 ? undefined : someId();
    see(...(await store.listPage({ ...filter, limit, after })).pets);
  }

  return async () => {
    const chance = random(100);
    try {
      if (chance < 30) see(await store.createPet(newPetInput()));
      else if (chance < 50) await createOnce();
      else if (chance < 65) await store.getPet(someId());
      else if (chance < 80) await follow();
      else await list();
    } catch (error) {
      const code = asAnimalStoreError(error)?.code;
      if (code === undefined) throw error;
      if (code !== 'not_found' && code !== 'idempotency_conflict') await sleep(PAUSE);
    }
  };
}

async function listAll(store: PetOperations): Promise<void> {
  let after = 0n;
  while (true) {
    const { pets, more } = await store.listPage({ limit: 100, after });
    const last = pets.at(-1)?.id ?? after;
    // A page that does not go beyond `after` would be read again forever. The history reports such a page.
    if (!more || last <= after) return;
    after = last;
  }
}
