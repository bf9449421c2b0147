import { beforeEach, expect, test, vi } from 'vitest';
import { waitAtMost } from '../../../src/adapters/storage-kit/wait-at-most.ts';

beforeEach(() => {
  vi.useFakeTimers();
  return () => void vi.useRealTimers();
});

/** Calls `waitAtMost`, and returns a function that tells whether its promise has resolved. */
async function waitFor(promise: Promise<unknown>): Promise<() => boolean> {
  let isOver = false;
  void waitAtMost(1000, promise).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  return () => isOver;
}

test.each(['resolve', 'reject'] as const)(
  'a wait ends when the promise %ss, and leaves no timer',
  async (end) => {
    const pending = Promise.withResolvers<void>();
    const isOver = await waitFor(pending.promise);
    expect(isOver()).toBe(false);
    pending[end]();
    await vi.advanceTimersByTimeAsync(0);
    expect(isOver()).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  },
);

test('a wait ends after the time, whatever the promise does', async () => {
  const isOver = await waitFor(new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(999);
  expect(isOver()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver()).toBe(true);
});
