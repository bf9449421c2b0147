import { beforeEach, expect, test, vi } from 'vitest';
import { exactlyOnce, type Records } from '../../../src/adapters/storage-kit/exactly-once.ts';
import type { IdempotentCreates } from '../../../src/application/ports/idempotent-creates.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { withRequired } from '../../support/pets.ts';

const REX = withRequired({ name: 'Rex', categoryId: 1n, status: 'available' });
const STORED: Pet = Object.freeze({ id: 7n, ...REX });
const attempt = { caller: 'a', key: 'k', at: 2, validUntil: 3 };

const claim = vi.fn<Records['claim']>();
const find = vi.fn<Records['find']>();
let add: IdempotentCreates['add'];

beforeEach(() => {
  claim.mockReset().mockResolvedValue(STORED);
  find.mockReset().mockResolvedValue(undefined);
  add = exactlyOnce({ claim, find });
});

test('a new key is claimed, and looked for neither before nor afterwards', async () => {
  expect(await add(REX, attempt)).toEqual({ pet: STORED, isReplay: false });
  expect(claim).toHaveBeenCalledExactlyOnceWith(REX, attempt);
  expect(find).not.toHaveBeenCalled();
});

test('the pet of a key that was claimed before is returned', async () => {
  claim.mockResolvedValue(undefined);
  find.mockResolvedValue(STORED);
  expect(await add(REX, attempt)).toEqual({ pet: STORED, isReplay: true });
  expect(claim).toHaveBeenCalledTimes(1);
});

test('a key whose record is removed in between is claimed again, at most three times', async () => {
  claim.mockResolvedValueOnce(undefined).mockResolvedValueOnce(undefined);
  expect(await add(REX, attempt)).toEqual({ pet: STORED, isReplay: false });
  claim.mockReset().mockResolvedValue(undefined);
  await expect(add(REX, attempt)).rejects.toMatchObject({
    code: 'overloaded',
    message: 'other attempts use this idempotency key: retry',
  });
  expect(claim).toHaveBeenCalledTimes(3);
});
