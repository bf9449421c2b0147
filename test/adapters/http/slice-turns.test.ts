import { expect, onTestFinished, test, vi } from 'vitest';
import { sliceTurns } from '../../../src/adapters/http/node/slice-turns.ts';

test('two connections get a turn in an iteration of the event loop, in the order of their calls', async () => {
  vi.useFakeTimers({ toFake: ['setImmediate'] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const nextSlice = sliceTurns();
  const began: number[] = [];
  const enter = async (number: number) => {
    await nextSlice();
    began.push(number);
    if (began.length === 1) void enter(0);
  };
  for (const number of [0, 1, 2]) void enter(number);
  expect(began).toEqual([]);
  await vi.advanceTimersToNextTimerAsync();
  expect(began).toEqual([0, 1]);
  await vi.advanceTimersToNextTimerAsync();
  expect(began).toEqual([0, 1, 2, 0]);
  expect(vi.getTimerCount()).toBe(0);
  void enter(3);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersToNextTimerAsync();
  expect(began).toEqual([0, 1, 2, 0, 3]);
  expect(vi.getTimerCount()).toBe(0);
});
