/** Clients of several servers that count in pets which they share, and add and remove others, while a copy of each server follows. */

import { expect } from 'vitest';
import { asAnimalStoreError, type BasicStore, createAnimalStore } from '../../src/library/client.ts';
import { withRequired } from '../support/pets.ts';
import { OPERATOR_KEY } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';

/** The clients of each server, and the pets in which they count. */
const CLIENTS = 4;
const COUNTERS = 3;

/** How often a client adds and removes a pet: after this number of its changes. */
const REMOVAL = 5;

/** How long a call is retried, in milliseconds. */
const TIMEOUT = 90_000;

export class CountingClients {
  changes = 0;
  removed = 0;
  readonly #stores: readonly BasicStore[];
  readonly #counters: bigint[] = [];
  readonly #running: Promise<unknown>;
  readonly #ending = new AbortController();
  /** The pets by their ids, as the follower of each server has seen them. */
  readonly #copies: readonly Map<bigint, unknown>[];
  #isStopping = false;

  private constructor(stores: readonly BasicStore[], counters: readonly bigint[]) {
    this.#stores = stores;
    this.#counters.push(...counters);
    this.#copies = stores.map((store) => this.#follow(store));
    this.#running = Promise.all(
      stores.flatMap((store) => Array.from({ length: CLIENTS }, (_, client) => this.#count(store, client))),
    );
  }

  static async start(ports: readonly number[]): Promise<CountingClients> {
    const open = (port: number) =>
      createAnimalStore({
        database: `http://127.0.0.1:${port}/v1`,
        apiKey: OPERATOR_KEY,
        timeout: TIMEOUT,
      });
    const stores = await Promise.all(ports.map(open));
    const counters: bigint[] = [];
    for (let count = 0; count < COUNTERS; count += 1) counters.push(await add(stores[0] as BasicStore));
    return new CountingClients(stores, counters);
  }

  /** Expects that each acknowledged change was made once, that nothing removed is left, and that each copy is exact. */
  async expectExact(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
    const stored = new Map<bigint, unknown>();
    for await (const pet of (this.#stores[0] as BasicStore).listPets()) stored.set(pet.id, pet);
    const counted = await Promise.all(
      this.#counters.map(async (id) => (await this.#stores[0]?.getPet(id))?.categoryId ?? 0n),
    );
    const sum = counted.reduce((one, other) => one + other, 0n);
    expect([stored.size, Number(sum)], BROKEN_PROMISE).toEqual([COUNTERS, this.changes]);
    for (const copy of this.#copies)
      await expect.poll(() => copy, { message: BROKEN_PROMISE }).toEqual(stored);
    this.#ending.abort();
    for (const store of this.#stores) await store.close();
  }

  async #count(store: BasicStore, client: number): Promise<void> {
    for (let count = client; !this.#isStopping; count += 1) {
      const id = this.#counters[count % COUNTERS] as bigint;
      await once(() => store.changePet(id, ({ categoryId }) => ({ categoryId: categoryId + 1n })));
      this.changes += 1;
      if (count % REMOVAL !== 0) continue;
      await store.removePet(await add(store));
      this.removed += 1;
    }
  }

  #follow(store: BasicStore): Map<bigint, unknown> {
    const { signal } = this.#ending;
    const copy = new Map<bigint, unknown>();
    const follow = async (): Promise<void> => {
      for await (const { pet, removed } of store.followChanges({ interval: 20, signal })) {
        if (pet === undefined) copy.delete(removed);
        else copy.set(pet.id, pet);
      }
    };
    follow().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    return copy;
  }
}

async function add(store: BasicStore): Promise<bigint> {
  return (await store.createPet(withRequired({ name: 'counter', categoryId: 0n }))).id;
}

/** Repeats a change to which others were always faster, and which therefore changed nothing. */
async function once(change: () => Promise<unknown>): Promise<void> {
  for (let isMade = false; !isMade; ) {
    isMade = await change().then(
      () => true,
      (error: unknown) => {
        if (asAnimalStoreError(error)?.code !== 'overloaded') throw error;
        return false;
      },
    );
  }
}
