/** The rules of a queue that test/adapters/sqlite/write/write-queue.test.ts does not check: no limit of size, and retries. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CallQueue, type QueuedCall } from '../../src/application/call-queue.ts';

const TIMEOUT = 1000;

let queue: CallQueue<number, string>;

beforeEach(() => {
  vi.useFakeTimers();
  queue = new CallQueue({ timeout: TIMEOUT, full: 'too many calls', late: 'too late' });
});

afterEach(() => {
  vi.useRealTimers();
});

const itemsOf = (calls: readonly QueuedCall<number, string>[]) => calls.map(({ item }) => item);

function addIgnored(...items: number[]): void {
  for (const item of items) queue.addCall(item).catch(() => {});
}

test('a call that is not sent before its deadline is rejected, alone', async () => {
  const first = queue.addCall(1);
  const late = expect(first).rejects.toMatchObject({ code: 'storage_unavailable', message: 'too late' });
  vi.advanceTimersByTime(TIMEOUT / 2);
  addIgnored(2, 3);
  vi.advanceTimersByTime(TIMEOUT / 2);
  await late;
  expect(queue.length).toBe(2);
  vi.advanceTimersByTime(TIMEOUT / 2);
  expect(queue.length).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('a retried call is sent after the others, has a new deadline, and tells that it is a retry', async () => {
  addIgnored(1);
  const calls = queue.takeCalls(10);
  expect(calls.map(({ isRetry }) => isRetry)).toEqual([false]);
  vi.advanceTimersByTime(TIMEOUT / 2);
  addIgnored(2);
  vi.advanceTimersByTime(TIMEOUT / 4);
  queue.retryCalls(calls);
  vi.advanceTimersByTime((TIMEOUT * 3) / 4);
  expect(queue.length).toBe(1);
  const [retried] = queue.takeCalls(10);
  expect(retried).toMatchObject({ item: 1, isRetry: true });
  queue.retryCalls([retried as never]);
  vi.advanceTimersByTime(TIMEOUT);
  expect(queue.length).toBe(0);
});

test('a retried call has the promise of the first attempt', async () => {
  const result = queue.addCall(1);
  queue.retryCalls(queue.takeCalls(1));
  queue.takeCalls(1)[0]?.resolve('found');
  expect(await result).toBe('found');
});

test('at most 10,000 calls wait', async () => {
  for (let item = 0; item < 10_000; item++) addIgnored(item);
  await expect(queue.addCall(1)).rejects.toMatchObject({ code: 'overloaded', message: 'too many calls' });
  expect(itemsOf(queue.takeCalls(1))).toEqual([0]);
  addIgnored(1);
  expect(queue.length).toBe(10_000);
});
