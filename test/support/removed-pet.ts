/** What every storage says of the record of a pet that another program has removed. */

import { expect } from 'vitest';
import type { Storage } from '../../src/application/ports/storage.ts';
import { REX } from './pets.ts';

/** @param removePets removes all pets, and no record */
export async function expectRefusedReplay(
  { pets, idempotentCreates }: Storage,
  removePets: () => unknown,
): Promise<void> {
  const attempt = (at: number) => ({ caller: '1', key: 'a', at, validUntil: at + 1000 });
  await idempotentCreates.add(REX, attempt(1000));
  await removePets();
  for (let times = 0; times < 2; times++) {
    await expect(idempotentCreates.add(REX, attempt(1000))).rejects.toMatchObject({
      code: 'internal_error',
      message: 'the pet 1 of this idempotency key was removed by another program',
      retryAfter: undefined,
    });
  }
  expect(await pets.list({ limit: 1 })).toEqual({ pets: [], more: false });
  const late = await idempotentCreates.add(REX, attempt(2001));
  expect(late.isReplay).toBe(false);
  expect(late.pet.id).toBeGreaterThan(1n);
}
