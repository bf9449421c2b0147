import { setTimeout as sleep } from 'node:timers/promises';
import { asAnimalStoreError } from '../../domain/errors.ts';
import type { NewPetInput, Pet } from '../../domain/pet.ts';
import { filterable, SAMPLE_FILTERS } from '../fixtures/filters.ts';
import { samplePet } from '../fixtures/pets.ts';
import { randomNumbers } from '../random.ts';
import type { History, PetOperations } from './history.ts';

/** The options of {@link exercise}. */
export interface ExerciseOptions {
  /** The number of calls of each client. Default: 100. */
  readonly calls?: number | undefined;
  /** The number of clients of each store. Default: 4. */
  readonly clients?: number | undefined;
  /** Selects what the clients call, as far as the timing of the stores does not. Default: 1. */
  readonly seed?: number | undefined;
  /** Whether the stores have idempotency keys. Default: true. */
  readonly hasIdempotencyKeys?: boolean | undefined;
  /** Ends the clients early. */
  readonly signal?: AbortSignal | undefined;
}

/** A create with an idempotency key that a client may retry. */
interface KeyedCreate {
  readonly pet: NewPetInput;
  readonly idempotencyKey: string;
}

/** After a failed call, in milliseconds. */
const PAUSE = 5;
const LIMITS = [1, 2, 3, 20, 100] as const;

/**
 * Calls stores that share their pets from several clients at once, and records the calls in `history`: creates with and
 * without idempotency keys, retries on any store, reads of pets that exist, or do not exist yet, and lists with any limit,
 * status and start. At the end, each store lists all its pets. A call may fail with an `AnimalStoreError`.
 */
export async function exercise(
  history: History,
  stores: readonly PetOperations[],
  options: ExerciseOptions = {},
): Promise<void> {
  const { calls = 100, clients = 4, seed = 1, signal } = options;
  const recorded = stores.map((store, index) => history.record(store, `store ${index + 1}`));
  const shared = new SharedState(options.hasIdempotencyKeys ?? true);
  await Promise.all(
    stores.flatMap((store, index) =>
      Array.from({ length: clients }, async (_, number) => {
        const client = `client ${index + 1}.${number + 1}`;
        const random = randomNumbers(seed * 1009 + index * 101 + number);
        const calling = new Client(client, history.record(store, client), recorded, shared, random);
        for (let call = 0; call < calls && signal?.aborted !== true; call += 1) await calling.callOnce();
      }),
    ),
  );
  for (const store of recorded) await listAll(store);
}

/** The ids that the clients share, so that they read what others have just created. */
class SharedState {
  readonly hasIdempotencyKeys: boolean;
  readonly keyed: KeyedCreate[] = [];
  maxId = 0n;
  created = 0;

  constructor(hasIdempotencyKeys: boolean) {
    this.hasIdempotencyKeys = hasIdempotencyKeys;
  }

  see(pets: readonly Pet[]): void {
    for (const { id } of pets) if (id > this.maxId) this.maxId = id;
  }
}

class Client {
  readonly #name: string;
  readonly #store: PetOperations;
  readonly #all: readonly PetOperations[];
  readonly #shared: SharedState;
  readonly #random: (below: number) => number;
  /** The last pet that this client has followed. */
  #followed = 0n;

  constructor(
    name: string,
    store: PetOperations,
    all: readonly PetOperations[],
    shared: SharedState,
    random: (below: number) => number,
  ) {
    this.#name = name;
    this.#store = store;
    this.#all = all;
    this.#shared = shared;
    this.#random = random;
  }

  async callOnce(): Promise<void> {
    const chance = this.#random(100);
    try {
      if (chance < 30) this.#shared.see([await this.#store.createPet(this.#newPet())]);
      else if (chance < 50) await this.#createOnce();
      else if (chance < 65) await this.#store.getPet(this.#someId());
      else if (chance < 80) await this.#follow();
      else await this.#list();
    } catch (error) {
      const code = asAnimalStoreError(error)?.code;
      if (code === undefined) throw error;
      if (code !== 'not_found' && code !== 'idempotency_conflict') await sleep(PAUSE);
    }
  }

  async #createOnce(): Promise<void> {
    const { keyed, hasIdempotencyKeys } = this.#shared;
    if (!hasIdempotencyKeys) return this.#follow();
    const earlier = keyed[keyed.length - 1 - this.#random(20)];
    const chance = this.#random(10);
    if (earlier !== undefined && chance < 3) {
      // A retry of another client's create, also while that is in flight.
      const { pet, idempotencyKey } = earlier;
      await this.#store.createPet(pet, { idempotencyKey });
    } else if (earlier !== undefined && chance < 4) {
      await this.#store.createPet(this.#newPet(), { idempotencyKey: earlier.idempotencyKey });
    } else {
      const pet = this.#newPet();
      const idempotencyKey = `key ${this.#shared.created} of ${this.#name}`.replaceAll(' ', '-');
      keyed.push({ pet, idempotencyKey });
      const other = this.#all[this.#random(this.#all.length)];
      const attempts = [this.#store, ...(chance < 7 && other !== undefined ? [other] : [])];
      const results = await Promise.allSettled(
        attempts.map((store) => store.createPet(pet, { idempotencyKey })),
      );
      for (const result of results) {
        if (result.status === 'rejected') throw result.reason;
        this.#shared.see([result.value]);
      }
    }
  }

  async #follow(): Promise<void> {
    const { pets } = await this.#store.listPage({ after: this.#followed, limit: 100 });
    this.#shared.see(pets);
    this.#followed = pets.at(-1)?.id ?? this.#followed;
  }

  async #list(): Promise<void> {
    const limit = LIMITS[this.#random(LIMITS.length)] ?? 1;
    const filter = SAMPLE_FILTERS[this.#random(SAMPLE_FILTERS.length)];
    const after = this.#random(4) === 0 ? undefined : this.#someId();
    this.#shared.see((await this.#store.listPage({ ...filter, limit, after })).pets);
  }

  /** Most often the id of one of the last pets, or of one that does not exist yet. */
  #someId(): bigint {
    const id = this.#shared.maxId + 3n - BigInt(this.#random(this.#random(4) === 0 ? 500 : 12));
    return id < 1n ? 1n : id;
  }

  #newPet(): NewPetInput {
    this.#shared.created += 1;
    const name = `pet ${this.#shared.created} of ${this.#name}`;
    return filterable(samplePet(name, this.#random(1000) - 500), this.#random(1000));
  }
}

async function listAll(store: PetOperations): Promise<void> {
  let after = 0n;
  while (true) {
    const { pets, more } = await store.listPage({ limit: 100, after });
    const last = pets.at(-1)?.id ?? after;
    // A page that did not move would be read for ever. The history tells it.
    if (!more || last <= after) return;
    after = last;
  }
}
