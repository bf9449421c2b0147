import { getEventListeners } from 'node:events';
import { beforeEach, expect, test, vi } from 'vitest';
import { pause } from '../../src/application/pause.ts';

beforeEach(() => {
  vi.useFakeTimers();
  return () => void vi.useRealTimers();
});

/** Returns a function that tells whether the promise has settled. */
function watched(promise: Promise<void>): () => boolean {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  return () => isSettled;
}

test('a pause longer than a timer can be is the longest one, and not the shortest', async () => {
  const isOver = watched(pause(2 ** 40));
  await vi.advanceTimersByTimeAsync(2 ** 31 - 2);
  expect(isOver()).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(isOver()).toBe(true);
});

test('a signal ends a pause with its reason, and nothing is left', async () => {
  const [controller, reason] = [new AbortController(), new Error('enough')];
  const paused = pause(1000, controller.signal);
  controller.abort(reason);
  await expect(paused).rejects.toBe(reason);
  await expect(pause(1000, controller.signal)).rejects.toBe(reason);
  expect(vi.getTimerCount()).toBe(0);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});
