/** Clients of several servers that share a store: some follow its pets, and the calls of others fit one order. */

import { expect } from 'vitest';
import { type BasicStore, createAnimalStore } from '../../../src/library/client.ts';
import { type ExerciseOptions, exercise, History } from '../../../src/testing/index.ts';
import { OPERATOR_KEY } from '../../support/process.ts';
import { BROKEN_PROMISE } from '../../support/retry.ts';

/** Follows the pets of each store, until it has been compared with what is stored. */
class Followers {
  readonly #seen: readonly bigint[][];
  readonly #ending = new AbortController();

  constructor(stores: readonly BasicStore[]) {
    this.#seen = stores.map((store) => this.#idsOf(store));
  }

  /** Expects that each follower sees all stored pets, each once and in the order of their ids. */
  async expectAll(stored: readonly bigint[]): Promise<void> {
    const last = stored.at(-1);
    for (const seen of this.#seen) {
      await expect.poll(() => seen.at(-1)).toBe(last);
      const once = new Set(seen);
      const missed = stored.filter((id) => !once.has(id));
      const twice = seen.filter((id, index) => index > 0 && id <= (seen[index - 1] as bigint));
      expect({ missed, twice, seen: seen.length }, BROKEN_PROMISE).toEqual({
        missed: [],
        twice: [],
        seen: stored.length,
      });
    }
    this.#ending.abort();
  }

  /** Returns a list to which the ids of all pets are added as they become visible. */
  #idsOf(store: BasicStore): bigint[] {
    const { signal } = this.#ending;
    const ids: bigint[] = [];
    const follow = async (): Promise<void> => {
      for await (const { id } of store.followPets({ interval: 20, signal })) ids.push(id);
    };
    follow().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    return ids;
  }
}

/** Clients that record what they call, and followers beside them. */
export class RecordedClients {
  readonly history: History = new History();
  /** Resolves when the clients have made their calls. */
  readonly exercised: Promise<void>;
  readonly #stores: readonly BasicStore[];
  readonly #followers: Followers;
  readonly #ending = new AbortController();

  private constructor(stores: readonly BasicStore[], options: ExerciseOptions) {
    this.#stores = stores;
    this.#followers = new Followers(stores);
    this.exercised = exercise(this.history, stores, { ...options, signal: this.#ending.signal });
  }

  static async start(ports: readonly number[], options: ExerciseOptions): Promise<RecordedClients> {
    const open = (port: number) =>
      createAnimalStore({
        database: `http://127.0.0.1:${port}/v1`,
        apiKey: OPERATOR_KEY,
      });
    return new RecordedClients(await Promise.all(ports.map(open)), options);
  }

  /** Ends the clients after their calls in flight. */
  end(): void {
    this.#ending.abort();
  }

  /** Expects that all calls fit one order, and that the followers missed no pet. Resolves with the number of pets. */
  async expectOneOrder(): Promise<number> {
    await this.exercised;
    expect(this.history.contradiction(), BROKEN_PROMISE).toBeUndefined();
    const stored: bigint[] = [];
    for await (const { id } of (this.#stores[0] as BasicStore).listPets()) stored.push(id);
    await this.#followers.expectAll(stored);
    for (const store of this.#stores) await store.close();
    return stored.length;
  }
}
