import { expect, test, vi } from 'vitest';
import { waitAtMost } from '../../../src/adapters/storage-kit/wait-at-most.ts';

test('a wait ends after the time, or when the promise settles, and leaves no timer', async () => {
  vi.useFakeTimers();
  await waitAtMost(1000, Promise.resolve());
  await waitAtMost(1000, Promise.reject(new Error('failed')));
  expect(vi.getTimerCount()).toBe(0);
  const ended = vi.fn();
  const wait = waitAtMost(1000, new Promise(() => {})).then(ended);
  await vi.advanceTimersByTimeAsync(999);
  expect(ended).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await wait;
  vi.useRealTimers();
});
