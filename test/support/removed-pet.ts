/** Retries of a create whose pet was removed, on every storage with exactly-once creates. */

import type { Storage } from '../../src/application/ports/storage.ts';
import { REX } from './pets.ts';

/**
 * @param removePets removes all pets, and no record
 * @param endRecords makes all records end before now
 */
export async function replaysOfRemovedPet(
  { pets, idempotentCreates }: Storage,
  removePets: () => unknown,
  endRecords: () => unknown,
): Promise<unknown> {
  const attempt = { caller: '1', key: 'a', validFor: 3_600_000 };
  const retry = () => idempotentCreates.add(REX, attempt).catch((error: unknown) => error);
  await idempotentCreates.add(REX, attempt);
  await removePets();
  const retried = [await retry(), await retry()];
  const { pets: stored } = await pets.list({ limit: 1 });
  await endRecords();
  const { pet, isReplay } = await idempotentCreates.add(REX, attempt);
  return { retried, stored, afterItsEnd: { isReplay, hasNewId: pet.id > 1n } };
}

const FIRST = { pet: { id: 1n, ...REX }, isReplay: true };

/** What {@link replaysOfRemovedPet} must resolve with. */
export const FIRST_RESPONSES: unknown = {
  retried: [FIRST, FIRST],
  stored: [],
  afterItsEnd: { isReplay: false, hasNewId: true },
};
