/** Retries of a create whose pet another program has removed, on every storage with exactly-once creates. */

import { expect } from 'vitest';
import type { Storage } from '../../src/application/ports/storage.ts';
import { REX } from './pets.ts';

/** @param removePets removes all pets, and no record */
export async function replaysOfRemovedPet(
  { pets, idempotentCreates }: Storage,
  removePets: () => unknown,
): Promise<unknown> {
  const attempt = (at: number) => ({ caller: '1', key: 'a', at, validUntil: at + 1000 });
  const retry = () => idempotentCreates.add(REX, attempt(1000)).catch((error: unknown) => error);
  await idempotentCreates.add(REX, attempt(1000));
  await removePets();
  const retried = [await retry(), await retry()];
  const { pets: stored } = await pets.list({ limit: 1 });
  const { pet, isReplay } = await idempotentCreates.add(REX, attempt(2001));
  return { retried, stored, afterItsEnd: { isReplay, hasNewId: pet.id > 1n } };
}

const REFUSAL = expect.objectContaining({
  code: 'internal_error',
  message: 'the pet 1 of this idempotency key was removed',
  retryAfter: undefined,
});

/** What {@link replaysOfRemovedPet} must resolve with. */
export const REFUSED_REPLAYS: unknown = {
  retried: [REFUSAL, REFUSAL],
  stored: [],
  afterItsEnd: { isReplay: false, hasNewId: true },
};
