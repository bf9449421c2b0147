import { expect, test, vi } from 'vitest';
import { RecordQuota } from '../../../src/adapters/storage-kit/record-quota.ts';

const RESERVED = 'reserved';
const OLDEST = 77;

/** The records of a caller, of which the oldest one is from the time {@link OLDEST}. */
const counted = (count: number) => ({ count, oldestAt: OLDEST });

test('a caller can store a quarter of the free records before it is counted again', async () => {
  let records = 0;
  const count = vi.fn(async () => counted(records));
  const quota = new RecordQuota(8000, count);
  while (records < 2000 && (await quota.reserveRecord('a')) === RESERVED) records += 1;
  expect(records).toBe(2000);
  expect(count).toHaveBeenCalledTimes(1);
  expect(await quota.reserveRecord('a')).toBe(RESERVED);
  expect(count).toHaveBeenCalledTimes(2);
  expect(count).toHaveBeenCalledWith('a');
});

test('near the limit, a caller is counted after 1,000 records, and never exceeds the limit', async () => {
  let records = 6500;
  const count = vi.fn(async () => counted(records));
  const quota = new RecordQuota(8000, count);
  while ((await quota.reserveRecord('a')) === RESERVED) records += 1;
  expect(records).toBe(8000);
  expect(count).toHaveBeenCalledTimes(3);
});

test('after a count, the answer is a value and not a promise', async () => {
  const quota = new RecordQuota(5000, async () => counted(0));
  expect(quota.reserveRecord('a')).toBeInstanceOf(Promise);
  expect(quota.reserveRecord('a')).toBeInstanceOf(Promise);
  await quota.reserveRecord('a');
  expect(quota.reserveRecord('a')).toBe(RESERVED);
});

test('concurrent attempts share one count and its result', async () => {
  const count = vi.fn(async () => counted(7998));
  const quota = new RecordQuota(8000, count);
  const results = await Promise.all(Array.from({ length: 5 }, () => quota.reserveRecord('a')));
  expect(results).toMatchObject([RESERVED, RESERVED, ...Array(3).fill({ oldestAt: OLDEST })]);
  expect(count).toHaveBeenCalledTimes(1);
});

test('a caller at the limit is counted again after a minute', async () => {
  let now = 5;
  using _clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
  let records = 8000;
  const quota = new RecordQuota(8000, async () => counted(records));
  expect(await quota.reserveRecord('a')).toMatchObject({ oldestAt: OLDEST });
  records = 0;
  now += 59_999;
  expect(await quota.reserveRecord('a')).toMatchObject({ oldestAt: OLDEST });
  now += 1;
  expect(await quota.reserveRecord('a')).toBe(RESERVED);
});

test('each caller has its own quota, and a failed count is repeated', async () => {
  let isBroken = true;
  const quota = new RecordQuota(1, async (caller) => {
    if (isBroken) throw new Error('no');
    return counted(caller === 'full' ? 1 : 0);
  });
  await expect(quota.reserveRecord('a')).rejects.toThrow('no');
  isBroken = false;
  expect(await quota.reserveRecord('a')).toBe(RESERVED);
  expect(await quota.reserveRecord('full')).toMatchObject({ oldestAt: OLDEST });
});

test('the results of at most 10,000 callers are kept', async () => {
  let counts = 0;
  const quota = new RecordQuota(100, async () => {
    counts += 1;
    return counted(0);
  });
  const take = async (caller: number) => await quota.reserveRecord(String(caller));
  for (let caller = 0; caller < 10_000; caller++) await take(caller);
  for (const caller of [0, 9999]) await take(caller);
  expect(counts).toBe(10_000);
  for (const caller of [10_000, 10_000, 0]) await take(caller);
  expect(counts).toBe(10_002);
});
