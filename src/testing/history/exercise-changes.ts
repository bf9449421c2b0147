/** Lets several clients change the pets of stores at once, and follows the feed of changes. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ListedVersion, PetChanges, PetVersion } from '../../application/ports/pet-changes.ts';
import { asAnimalStoreError } from '../../domain/errors.ts';
import type { ChangingStore } from '../fixtures/attempts.ts';
import { samplePet, walk } from '../fixtures/pets.ts';
import { type Random, randomNumbers } from '../random.ts';
import { type ExerciseOptions, PAUSE } from './exercise.ts';
import { VersionHistory, type VersionWrite } from './versions.ts';

/**
 * Lets several clients create, change, remove and read pets in stores that share their pets, while a follower of each store reads
 * the feed. Resolves with a description of a contradiction, or with `undefined` if all versions fit one order. Clients and
 * followers continue after a call that fails with an `AnimalStoreError`.
 */
export async function exerciseChanges(
  stores: readonly ChangingStore[],
  { calls = 60, clients = 4, seed = 1, signal }: Omit<ExerciseOptions, 'hasIdempotencyKeys'> = {},
): Promise<string | undefined> {
  const history = new VersionHistory();
  const followers = stores.map(({ changes }) => followerOf(history, changes));
  const ids: bigint[] = [];
  let isWriting = true;
  const writing = Promise.all(
    Array.from({ length: clients * stores.length }, async (_, number) => {
      const store = stores[number % stores.length] as ChangingStore;
      const callOnce = callerOf(history, store, ids, number, randomNumbers(seed * 1009 + number));
      for (let call = 0; call < calls && signal?.aborted !== true; call += 1) await callOnce();
    }),
  );
  const following = followers.map(async (follower) => {
    while (isWriting) if (!(await follower.readPage())) await sleep(1);
  });
  const written = writing.finally(() => {
    isWriting = false;
  });
  await Promise.all([written, ...following]);
  const last = followerOf(history, (stores[0] as ChangingStore).changes);
  for (const follower of [...followers, last]) while (await follower.readPage());
  const feed = [...last.copy.values()];
  const pets = feed.flatMap(({ pet }) => pet ?? []).sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const store of stores) assert.deepEqual(await walk(store.pets, { limit: 100 }), pets);
  const contradiction = history.contradiction(feed);
  if (contradiction !== undefined) return contradiction;
  const missed = feed.find(({ id, revision }) =>
    followers.some(({ copy }) => copy.get(id)?.revision !== revision),
  );
  return missed && `a follower has missed version ${missed.revision} of pet ${missed.id}`;
}

/** Returns a follower, which copies the versions from the feed, and records each of them as a read of its pet. */
function followerOf(history: VersionHistory, changes: PetChanges) {
  const copy = new Map<bigint, ListedVersion>();
  let [after, isPromised] = [0n, false];
  /** Reads the next page of the feed. Resolves with `false` when no more versions follow. */
  const readPage = async (): Promise<boolean> => {
    const call = history.tick();
    const page = await changes.list({ after, limit: 7 }).catch(ignoreStoreError);
    if (page === undefined) return true;
    const end = history.tick();
    assert.ok(page.versions.length > 0 || page.more || !isPromised, `no promised change follows ${after}`);
    isPromised = page.more;
    for (const version of page.versions) {
      const { id, revision } = version;
      assert.ok(revision > after, `expected a revision above ${after}, got ${revision}`);
      after = revision;
      copy.set(id, version);
      history.addRead({ call, end, id, version });
    }
    assert.ok(page.upTo >= after, `the page ends at ${page.upTo}, before ${after}`);
    after = page.upTo;
    return page.more;
  };
  return { copy, readPage };
}

/** Returns a function that makes one random call, or a read and a write. All clients share `ids`. */
function callerOf(
  history: VersionHistory,
  { pets, changes }: ChangingStore,
  ids: bigint[],
  number: number,
  random: Random,
): () => Promise<void> {
  let written = 0;

  async function read(id: bigint): Promise<PetVersion | undefined> {
    const call = history.tick();
    const found = await changes
      .find(id)
      .then((version) => ({ version }))
      .catch(ignoreStoreError);
    if (found !== undefined) history.addRead({ call, end: history.tick(), id, ...found });
    return found?.version;
  }

  async function write(
    about: Pick<VersionWrite, 'id' | 'expected' | 'attributes'>,
    send: () => Promise<bigint | undefined>,
  ): Promise<bigint | undefined> {
    const call = history.tick();
    try {
      const revision = await send();
      if (revision !== undefined) history.addWrite({ ...about, call, end: history.tick(), revision });
      return revision;
    } catch (error) {
      history.addWrite({ ...about, call, end: Infinity, revision: undefined });
      return await ignoreStoreError(error);
    }
  }

  return async () => {
    const chance = random(100);
    written += 1;
    const attributes = samplePet(`pet ${number}.${written}`, chance);
    // The call uses one of the newest pets, so that several clients change the same pet.
    const id = ids[ids.length - 1 - random(5)];
    if (chance < 20 || id === undefined) {
      const created = await write({ attributes }, async () => (await pets.add(attributes)).id);
      if (created !== undefined) ids.push(created);
      return;
    }
    const version = await read(id);
    if (chance < 40 || version?.pet === undefined) return;
    const { revision: expected } = version;
    if (chance < 95)
      await write({ id, expected, attributes }, () => changes.replace({ id, ...attributes }, expected));
    else await write({ id, expected, attributes: undefined }, () => changes.remove(id, expected));
  };
}

async function ignoreStoreError(error: unknown): Promise<undefined> {
  if (asAnimalStoreError(error) === undefined) throw error;
  await sleep(PAUSE);
}
