import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Call, WaitingCalls } from '../../../src/adapters/postgres/waiting-calls.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';

const TIMEOUT = 1000;

let waiting: WaitingCalls<number, string>;

beforeEach(() => {
  vi.useFakeTimers();
  waiting = new WaitingCalls(TIMEOUT);
});

afterEach(() => {
  vi.useRealTimers();
});

const itemsOf = (calls: readonly Call<number, string>[]) => calls.map(({ item }) => item);

function addIgnored(group: string, ...items: number[]): void {
  for (const item of items) waiting.addCall(group, item).catch(() => {});
}

test('groups are sent in turn, and the rest of a large group after the others', () => {
  addIgnored('a', 1, 2, 3);
  addIgnored('b', 4);
  expect([waiting.count, waiting.countOf('a'), waiting.countOf('c')]).toEqual([4, 3, 0]);
  const sent: (readonly [string, number[]])[] = [];
  for (let group = waiting.nextGroup(); group !== undefined; group = waiting.nextGroup()) {
    sent.push([group, itemsOf(waiting.takeCalls(group, 2))]);
  }
  expect(sent).toEqual([
    ['a', [1, 2]],
    ['b', [4]],
    ['a', [3]],
  ]);
  expect([waiting.count, waiting.nextGroup()]).toEqual([0, undefined]);
});

test('a call that is not sent before its deadline is rejected, alone', async () => {
  const first = waiting.addCall('a', 1);
  const late = expect(first).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: 'the database was busy for 1 s: the call had no effect',
  });
  vi.advanceTimersByTime(TIMEOUT / 2);
  addIgnored('a', 2);
  addIgnored('b', 3);
  vi.advanceTimersByTime(TIMEOUT / 2);
  await late;
  expect(waiting.count).toBe(2);
  vi.advanceTimersByTime(TIMEOUT / 2);
  expect(waiting.count).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

test('a call that was put back has its own deadline', () => {
  addIgnored('a', 1);
  const calls = waiting.takeCalls('a', 10);
  vi.advanceTimersByTime(TIMEOUT);
  waiting.putBack(calls.map((call) => ({ ...call, deadline: performance.now() + TIMEOUT })));
  vi.advanceTimersByTime(TIMEOUT - 1);
  expect(waiting.countOf('a')).toBe(1);
  vi.advanceTimersByTime(1);
  expect(waiting.countOf('a')).toBe(0);
});

test('at most 10,000 calls wait', async () => {
  for (let item = 0; item < 10_000; item++) addIgnored(`${item % 7}`, item);
  await expect(waiting.addCall('a', 1)).rejects.toMatchObject({ code: 'overloaded' });
  waiting.takeCalls('0', 1);
  addIgnored('a', 1);
  expect(waiting.count).toBe(10_000);
});

test('all calls can be rejected', async () => {
  const calls = [waiting.addCall('a', 1), waiting.addCall('b', 2)];
  waiting.rejectAll(new AnimalStoreError('storage_unavailable', 'closed'));
  for (const result of await Promise.allSettled(calls)) {
    expect(result).toMatchObject({ status: 'rejected', reason: { message: 'closed' } });
  }
  expect(waiting.count).toBe(0);
});
