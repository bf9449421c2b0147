import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Value, Write, Written } from '../../../../src/adapters/sqlite/write/protocol.ts';
import { CallQueue } from '../../../../src/adapters/storage-kit/call-queue.ts';
import { AnimalStoreError } from '../../../../src/domain/errors.ts';

const LENGTH_LIMIT = 10_000;

let queue: CallQueue<Write, Written>;

function newQueue(lengthLimit?: number): typeof queue {
  return new CallQueue({
    timeout: 5000,
    full: 'too many writes',
    late: 'too late',
    ...(lengthLimit !== undefined && { lengthLimit }),
  });
}
/** The rejected writes: the first value of the write, and the code of the error. */
let rejected: [Value | undefined, string][];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  queue = newQueue();
  rejected = [];
  return () => {
    vi.useRealTimers();
  };
});

/** Queues a write of one statement with empty SQL and the given values. */
function add(...values: Value[]): void {
  queue.addCall([['', ...values]]).catch(({ code }: AnimalStoreError) => rejected.push([values[0], code]));
}

/** Lets time pass, and lets the rejections arrive. */
async function pass(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
}

function take(count: number): (Value | undefined)[] {
  return queue.takeCalls(count).map(({ item }) => firstValue(item));
}

function firstValue([statement]: Write): Value | undefined {
  return statement?.[1];
}

describe('the limit of the length', () => {
  test('is the number of queued writes', async () => {
    for (let index = 0; index < LENGTH_LIMIT; index++) add(index);
    expect(queue.length).toBe(LENGTH_LIMIT);
    add('too many');
    await pass(0);
    expect(rejected).toEqual([['too many', 'overloaded']]);
    expect(queue.length).toBe(LENGTH_LIMIT);
    expect(take(1)).toEqual([0]);
    add('last');
    await pass(0);
    expect(rejected).toHaveLength(1);
  });
});

test('the limit can be another one', async () => {
  queue = newQueue(LENGTH_LIMIT / 2);
  for (let index = 0; index < LENGTH_LIMIT / 2; index++) add(index);
  expect(queue.length).toBe(LENGTH_LIMIT / 2);
  await expect(queue.addCall([])).rejects.toMatchObject({
    code: 'overloaded',
    message: 'too many writes',
  });
});

describe('the deadline', () => {
  test('is 5 seconds after a write was queued', async () => {
    add('a');
    await pass(2000);
    add('b');
    add('c');
    await pass(2999);
    expect(rejected).toEqual([]);
    await pass(1);
    expect(rejected).toEqual([['a', 'storage_unavailable']]);
    expect(queue.length).toBe(2);
    await pass(1999);
    expect(rejected).toHaveLength(1);
    await pass(1);
    expect(rejected.map(([name]) => name)).toEqual(['a', 'b', 'c']);
    expect(queue.length).toBe(0);
  });

  test('is watched again after the queue was empty', async () => {
    add('a');
    await pass(12_000);
    add('b');
    await pass(4999);
    expect(rejected).toHaveLength(1);
    await pass(1);
    expect(rejected.map(([name]) => name)).toEqual(['a', 'b']);
  });

  test('is the same after a write was taken and put back', async () => {
    add('a');
    await pass(1000);
    const taken = queue.takeCalls(1);
    await pass(3999);
    queue.putBackCalls(taken);
    expect(queue.length).toBe(1);
    await pass(1);
    expect(rejected).toEqual([['a', 'storage_unavailable']]);
  });

  test('is watched again when a write is put back after the queue was empty', async () => {
    add('a');
    queue.takeCalls(1);
    await pass(3000);
    add('b');
    const taken = queue.takeCalls(1);
    await pass(3000);
    expect(vi.getTimerCount()).toBe(0);
    queue.putBackCalls(taken);
    await pass(1999);
    expect(rejected).toEqual([]);
    await pass(1);
    expect(rejected).toEqual([['b', 'storage_unavailable']]);
  });

  test('refuses a write that is put back too late', async () => {
    const late = expect(queue.addCall([])).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: 'too late',
    });
    const taken = queue.takeCalls(1);
    await pass(5000);
    queue.putBackCalls(taken);
    expect(queue.length).toBe(0);
    await late;
  });

  test('is watched by one timer', async () => {
    for (let index = 0; index < 100; index++) add(index);
    queue.putBackCalls(queue.takeCalls(50));
    expect(vi.getTimerCount()).toBe(1);
    await pass(5000);
    expect(rejected).toHaveLength(100);
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('a write that is past its deadline is never taken, even when the timer is late', async () => {
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ['performance'] });
  add('a');
  vi.advanceTimersByTime(4000);
  add('b');
  vi.advanceTimersByTime(1000);
  expect(take(2)).toEqual(['b']);
  await Promise.resolve();
  expect(rejected).toEqual([['a', 'storage_unavailable']]);
});

test('writes leave the queue in the order of their arrival, and writes that are put back come first', () => {
  for (const name of ['a', 'b', 'c', 'd']) add(name);
  const taken = queue.takeCalls(2);
  expect(taken.map(({ item }) => firstValue(item))).toEqual(['a', 'b']);
  add('e');
  queue.putBackCalls(taken);
  expect(take(10)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(take(10)).toEqual([]);
});

test('the promise of a write has the result that the caller of `takeCalls` gives', async () => {
  const stored = queue.addCall([['']]);
  const failed = queue.addCall([['']]);
  const [first, second] = queue.takeCalls(2);
  first?.resolve({ changes: 1, rowId: 7n });
  second?.reject(new AnimalStoreError('internal_error', 'failed'));
  await expect(stored).resolves.toEqual({ changes: 1, rowId: 7n });
  await expect(failed).rejects.toMatchObject({ code: 'internal_error' });
});

test('all queued writes can be refused with one error', async () => {
  for (const name of ['a', 'b']) add(name);
  queue.rejectCalls(new AnimalStoreError('not_found', 'refused'));
  await pass(0);
  expect(rejected).toEqual([
    ['a', 'not_found'],
    ['b', 'not_found'],
  ]);
  expect(queue.length).toBe(0);
});
