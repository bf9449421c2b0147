import { expect, test, vi } from 'vitest';
import { RecordQuota } from '../../src/application/record-quota.ts';

test('a caller can store a quarter of the free records before it is counted again', async () => {
  let records = 0;
  const count = vi.fn(async () => records);
  const quota = new RecordQuota(8000, count);
  for (; records < 2000; records++) expect(await quota.take('a')).toBe(true);
  expect(count).toHaveBeenCalledTimes(1);
  expect(await quota.take('a')).toBe(true);
  expect(count).toHaveBeenCalledTimes(2);
  expect(count).toHaveBeenCalledWith('a');
});

test('near the limit, a caller is counted after 1,000 records, and never exceeds the limit', async () => {
  let records = 6500;
  const count = vi.fn(async () => records);
  const quota = new RecordQuota(8000, count);
  while (await quota.take('a')) records += 1;
  expect(records).toBe(8000);
  expect(count).toHaveBeenCalledTimes(3);
});

test('after a count, the answer is a value and not a promise', async () => {
  const quota = new RecordQuota(5000, async () => 0);
  expect(quota.take('a')).toBeInstanceOf(Promise);
  expect(quota.take('a')).toBeInstanceOf(Promise);
  await quota.take('a');
  expect(quota.take('a')).toBe(true);
});

test('concurrent attempts share one count and its result', async () => {
  const count = vi.fn(async () => 7998);
  const quota = new RecordQuota(8000, count);
  const results = await Promise.all(Array.from({ length: 5 }, () => quota.take('a')));
  expect(results).toEqual([true, true, false, false, false]);
  expect(count).toHaveBeenCalledTimes(1);
});

test('a caller at the limit is counted again after a minute', async () => {
  let records = 8000;
  const count = vi.fn(async () => records);
  const quota = new RecordQuota(8000, count);
  expect(await quota.take('a')).toBe(false);
  records = 0;
  expect(await quota.take('a')).toBe(false);
  expect(count).toHaveBeenCalledTimes(1);
  const now = performance.now();
  using clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 60_000);
  expect(await quota.take('a')).toBe(true);
  expect(clock).toHaveBeenCalled();
});

test('each caller has its own quota, and a failed count is repeated', async () => {
  let isBroken = true;
  const quota = new RecordQuota(1, async (caller) => {
    if (isBroken) throw new Error('no');
    return caller === 'full' ? 1 : 0;
  });
  await expect(quota.take('a')).rejects.toThrow('no');
  isBroken = false;
  expect(await quota.take('a')).toBe(true);
  expect(await quota.take('full')).toBe(false);
});

test('the results of at most 10,000 callers are kept', async () => {
  const count = vi.fn(async () => 0);
  const quota = new RecordQuota(100, count);
  for (let caller = 0; caller < 10_001; caller++) await quota.take(`${caller}`);
  await quota.take('10000');
  expect(count).toHaveBeenCalledTimes(10_001);
  await quota.take('0');
  expect(count).toHaveBeenCalledTimes(10_002);
});
