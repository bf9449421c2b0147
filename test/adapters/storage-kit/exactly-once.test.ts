import { expect, test, vi } from 'vitest';
import { exactlyOnce, type Records } from '../../../src/adapters/storage-kit/records.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { REX } from '../../support/pets.ts';

test('a key whose record is removed in between is claimed again, at most three times', async () => {
  const stored: Pet = { id: 7n, ...REX };
  const attempt = { caller: 'a', key: 'k', validFor: 1 };
  const claim = vi.fn<Records['claim']>().mockResolvedValue(stored);
  const add = exactlyOnce({ claim, find: async () => undefined });
  claim.mockResolvedValueOnce(undefined).mockResolvedValueOnce(undefined);
  expect(await add(stored, attempt)).toEqual({ pet: stored, isReplay: false });
  claim.mockReset().mockResolvedValue(undefined);
  await expect(add(stored, attempt)).rejects.toMatchObject({ code: 'overloaded' });
  expect(claim).toHaveBeenCalledTimes(3);
});
