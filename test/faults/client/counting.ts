/** Clients of several servers count in shared pets, and add and remove others, while a copy follows each server. */

import { expect } from 'vitest';
import { asAnimalStoreError, type BasicStore, createAnimalStore } from '../../../src/library/client.ts';
import { numberedPet, numberOf } from '../../../src/testing/fixtures/pets.ts';
import { numberedChange } from '../../support/pets.ts';
import { OPERATOR_KEY } from '../../support/process.ts';
import { BROKEN_PROMISE } from '../../support/retry.ts';

/** The clients of each server, and the pets in which they count. */
const CLIENTS = 4;
const COUNTERS = 3;

/** How often a client adds and removes a pet: after this number of its changes. */
const REMOVAL = 5;

/** One of this number of responses to a change is lost, in addition to those that a kill cuts off. */
const LOST = 5;

/** How long a call is retried, in milliseconds. */
const TIMEOUT = 90_000;

export class CountingClients {
  /** The numbers of confirmed changes and removals, of responses with status 502, and of replayed responses. */
  changes = 0;
  removed = 0;
  cutOff = 0;
  replays = 0;
  #received = 0;
  readonly #stores: BasicStore[] = [];
  /** The pets in which the clients count, each with the confirmed numbers. */
  readonly #counters: Map<bigint, bigint[]> = new Map();
  /** The pets by their ids, as the follower of each server has seen them. */
  readonly #copies: Map<bigint, unknown>[] = [];
  readonly #ending = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #isStopping = false;

  static async start(origins: readonly string[]): Promise<CountingClients> {
    const clients = new CountingClients();
    await clients.#start(origins);
    return clients;
  }

  async #start(origins: readonly string[]): Promise<void> {
    const options = { apiKey: OPERATOR_KEY, timeout: TIMEOUT, fetch: this.#fetch };
    for (const origin of origins)
      this.#stores.push(await createAnimalStore({ database: `${origin}/v1`, ...options }));
    const [first] = this.#stores as [BasicStore];
    for (let count = 0; count < COUNTERS; count += 1)
      this.#counters.set((await first.createPet(numberedPet(0n))).id, []);
    this.#copies.push(...this.#stores.map((store) => this.#follow(store)));
    const clients = this.#stores.flatMap((store) => Array<BasicStore>(CLIENTS).fill(store));
    this.#running = Promise.all(clients.map((store, number) => this.#count(store, number)));
  }

  /** Resolves when the clients have made this number of further changes. */
  async untilChanged(count: number): Promise<void> {
    const enough = this.changes + count;
    await Promise.race([this.#running, expect.poll(() => this.changes).toBeGreaterThanOrEqual(enough)]);
  }

  /** Expects that each acknowledged change was made once, that nothing removed is left, and that each copy is exact. */
  async expectExact(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
    const stored = new Map<bigint, unknown>();
    for await (const pet of (this.#stores[0] as BasicStore).listPets()) {
      stored.set(pet.id, pet);
      const confirmed = this.#counters.get(pet.id)?.toSorted((one, other) => Number(one - other));
      expect(confirmed, BROKEN_PROMISE).toEqual(confirmed?.map((_, index) => BigInt(index + 1)));
      expect(numberOf(pet), BROKEN_PROMISE).toBe(BigInt(confirmed?.length ?? -1));
    }
    expect(stored.size, BROKEN_PROMISE).toBe(COUNTERS);
    for (const copy of this.#copies)
      await expect.poll(() => copy, { message: BROKEN_PROMISE }).toEqual(stored);
    this.#ending.abort();
    for (const store of this.#stores) await store.close();
  }

  async #count(store: BasicStore, client: number): Promise<void> {
    const counters = [...this.#counters];
    for (let count = client; !this.#isStopping; count += 1) {
      const [id, confirmed] = counters[count % COUNTERS] as (typeof counters)[0];
      const { pet } = await once(() => store.changePet(id, (pet) => numberedChange(numberOf(pet) + 1n)));
      confirmed.push(numberOf(pet));
      this.changes += 1;
      if (count % REMOVAL !== 0) continue;
      await store.removePet((await store.createPet(numberedPet(0n))).id);
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

  readonly #fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(url, init);
    if (response.status === 502) this.cutOff += 1;
    if (response.headers.has('Idempotency-Replayed')) this.replays += 1;
    if (init.method === 'GET' || !response.ok || ++this.#received % LOST !== 0) return response;
    await response.text();
    throw new Error('the response is lost');
  };
}

/** Repeats a change that was not made, because other clients were always faster. */
async function once<T>(change: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await change();
    } catch (error) {
      if (asAnimalStoreError(error)?.code !== 'overloaded') throw error;
    }
  }
}
