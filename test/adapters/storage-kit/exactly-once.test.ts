import { beforeEach, expect, test, vi } from 'vitest';
import { exactlyOnce, type Records } from '../../../src/adapters/storage-kit/exactly-once.ts';
import type { IdempotentCreates } from '../../../src/application/ports/idempotent-creates.ts';
import type { Pet } from '../../../src/domain/pet.ts';

const REX = { name: 'Rex', categoryId: 1n, status: 'available' } as const;
const STORED: Pet = Object.freeze({ id: 7n, ...REX });
const attempt = { caller: 'a', key: 'k', at: 2, validFrom: 1 };
const LIMIT = 2;

const claim = vi.fn<Records['claim']>();
const find = vi.fn<Records['find']>();
const countOf = vi.fn<Records['countOf']>();
let add: IdempotentCreates['add'];

beforeEach(() => {
  claim.mockReset().mockResolvedValue(7n);
  find.mockReset().mockResolvedValue(undefined);
  countOf.mockReset().mockResolvedValue({ count: 0, oldestAt: undefined });
  add = exactlyOnce({ countOf, countTimeout: 1000, claim, find }, LIMIT);
});

test('a new key is claimed, and looked for neither before nor afterwards', async () => {
  const { pet, isReplay } = await add({ ...REX, extra: 1 } as never, attempt);
  expect([pet, isReplay]).toEqual([STORED, false]);
  expect(Object.isFrozen(pet)).toBe(true);
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

test('a caller at the limit still gets its pets, and claims nothing', async () => {
  countOf.mockResolvedValue({ count: LIMIT, oldestAt: 1 });
  find.mockResolvedValueOnce(STORED);
  expect(await add(REX, attempt)).toEqual({ pet: STORED, isReplay: true });
  await expect(add(REX, attempt)).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 120 });
  expect(claim).not.toHaveBeenCalled();
});

test('a count that arrives in time leaves no timer', async () => {
  vi.useFakeTimers();
  expect(await add(REX, attempt)).toMatchObject({ isReplay: false });
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

test('a create does not wait longer for a count than its deadline, and the next one uses the count', async () => {
  vi.useFakeTimers();
  const counted = Promise.withResolvers<{ count: number; oldestAt: undefined }>();
  countOf.mockReturnValue(counted.promise);
  const late = add(REX, attempt).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(1000);
  vi.useRealTimers();
  expect(await late).toMatchObject({
    code: 'storage_unavailable',
    message: 'counting the idempotency keys of this API key takes long: nothing was stored',
  });
  expect(claim).not.toHaveBeenCalled();
  counted.resolve({ count: 0, oldestAt: undefined });
  expect(await add(REX, attempt)).toMatchObject({ isReplay: false });
  expect(countOf).toHaveBeenCalledTimes(1);
});
