import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ListedVersion, PetChanges, PetVersion } from '../../application/ports/pet-changes.ts';
import { asAnimalStoreError } from '../../domain/errors.ts';
import type { ChangingStore } from '../fixtures/attempts.ts';
import { samplePet, walk } from '../fixtures/pets.ts';
import { type Random, randomNumbers } from '../random.ts';
import { VersionHistory, type VersionWrite } from './versions.ts';

/** The options of {@link exerciseChanges}. */
export interface ChangeExerciseOptions {
  /** The number of calls of each client. Default: 60. */
  readonly calls?: number | undefined;
  /** The number of clients of each store. Default: 4. */
  readonly clients?: number | undefined;
  /** Selects what the clients call, as far as the timing of the stores does not. Default: 1. */
  readonly seed?: number | undefined;
  /** Ends the clients early. */
  readonly signal?: AbortSignal | undefined;
}

/** After a failed call, in milliseconds. */
const PAUSE = 5;

/**
 * Creates, changes, removes and reads pets from several clients of stores that share their pets, while a follower of each store
 * reads the feed. Resolves with what contradicts one order of all versions, if anything does. A call may fail with an
 * `AnimalStoreError`.
 */
export async function exerciseChanges(
  stores: readonly ChangingStore[],
  { calls = 60, clients = 4, seed = 1, signal }: ChangeExerciseOptions = {},
): Promise<string | undefined> {
  const history = new VersionHistory();
  const followers = stores.map(({ changes }) => new Follower(history, changes));
  const ids: bigint[] = [];
  let isWriting = true;
  const client = async (store: ChangingStore, number: number): Promise<void> => {
    const calling = new Client(history, store, ids, number, randomNumbers(seed * 1009 + number));
    for (let call = 0; call < calls && signal?.aborted !== true; call += 1) await calling.callOnce();
  };
  const numbers = Array.from({ length: clients * stores.length }, (_, number) => number);
  const writing = Promise.all(
    numbers.map((number) => client(stores[number % stores.length] as ChangingStore, number)),
  );
  const following = followers.map(async (follower) => {
    while (isWriting) if (!(await follower.readPage())) await sleep(1);
  });
  const written = writing.finally(() => {
    isWriting = false;
  });
  await Promise.all([written, ...following]);
  const last = new Follower(history, (stores[0] as ChangingStore).changes);
  for (const follower of [...followers, last]) while (await follower.readPage());
  const feed = [...last.copy.values()];
  const pets = feed.flatMap(({ pet }) => pet ?? []).sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const store of stores) assert.deepEqual(await walk(store.pets, { limit: 100 }), pets);
  return (
    history.contradiction(feed) ?? followers.map(({ copy }) => difference(copy, last.copy)).find(Boolean)
  );
}

function difference(
  copy: ReadonlyMap<bigint, ListedVersion>,
  feed: ReadonlyMap<bigint, ListedVersion>,
): string | undefined {
  const missed = [...feed.values()].find(({ id, revision }) => copy.get(id)?.revision !== revision);
  return missed && `a follower has missed version ${missed.revision} of pet ${missed.id}`;
}

/** Keeps a copy of the store. Each version of the feed is also a read of its pet. */
class Follower {
  readonly #history: VersionHistory;
  readonly #changes: PetChanges;
  readonly copy: Map<bigint, ListedVersion> = new Map();
  #after = 0n;

  constructor(history: VersionHistory, changes: PetChanges) {
    this.#history = history;
    this.#changes = changes;
  }

  /** Resolves with whether more versions follow. */
  async readPage(): Promise<boolean> {
    const call = this.#history.tick();
    const page = await this.#changes.list({ after: this.#after, limit: 7 }).catch(ignoreStoreError);
    if (page === undefined) return true;
    const end = this.#history.tick();
    for (const version of page.versions) {
      const { id, revision } = version;
      assert.ok(revision > this.#after, `expected a revision above ${this.#after}, got ${revision}`);
      this.#after = revision;
      this.copy.set(id, version);
      this.#history.addRead({ call, end, id, version });
    }
    assert.ok(page.upTo >= this.#after, `the page ends at ${page.upTo}, before ${this.#after}`);
    this.#after = page.upTo;
    return page.more;
  }
}

class Client {
  readonly #history: VersionHistory;
  readonly #store: ChangingStore;
  /** The ids that all clients know. */
  readonly #ids: bigint[];
  readonly #number: number;
  readonly #random: Random;
  #written = 0;

  constructor(history: VersionHistory, store: ChangingStore, ids: bigint[], number: number, random: Random) {
    this.#history = history;
    this.#store = store;
    this.#ids = ids;
    this.#number = number;
    this.#random = random;
  }

  async callOnce(): Promise<void> {
    const { pets, changes } = this.#store;
    const chance = this.#random(100);
    this.#written += 1;
    const name = `pet ${this.#number}.${this.#written}`;
    const attributes = samplePet(name, chance);
    // Most calls are of the newest pets, so that several clients change the same one.
    const id = this.#ids[this.#ids.length - 1 - this.#random(5)];
    if (chance < 20 || id === undefined) {
      const created = await this.#write({ attributes }, async () => (await pets.add(attributes)).id);
      if (created !== undefined) this.#ids.push(created);
      return;
    }
    const version = await this.#read(id);
    if (chance < 40 || version?.pet === undefined) return;
    const { revision: expected } = version;
    if (chance < 95)
      await this.#write({ id, expected, attributes }, () => changes.replace({ id, ...attributes }, expected));
    else await this.#write({ id, expected, attributes: undefined }, () => changes.remove(id, expected));
  }

  async #read(id: bigint): Promise<PetVersion | undefined> {
    const call = this.#history.tick();
    const found = await this.#store.changes
      .find(id)
      .then((version) => ({ version }))
      .catch(ignoreStoreError);
    if (found !== undefined) this.#history.addRead({ call, end: this.#history.tick(), id, ...found });
    return found?.version;
  }

  async #write(
    write: Pick<VersionWrite, 'id' | 'expected' | 'attributes'>,
    send: () => Promise<bigint | undefined>,
  ): Promise<bigint | undefined> {
    const call = this.#history.tick();
    try {
      const revision = await send();
      if (revision !== undefined)
        this.#history.addWrite({ ...write, call, end: this.#history.tick(), revision });
      return revision;
    } catch (error) {
      this.#history.addWrite({ ...write, call, end: Infinity, revision: undefined });
      return await ignoreStoreError(error);
    }
  }
}

async function ignoreStoreError(error: unknown): Promise<undefined> {
  if (asAnimalStoreError(error) === undefined) throw error;
  await sleep(PAUSE);
}
