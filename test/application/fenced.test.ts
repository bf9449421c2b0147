import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fenced } from '../../src/application/fenced.ts';

test('what the code of a host returns is returned, and what it throws or rejects with is discarded', async () => {
  expect([fenced(() => 5), fenced(() => null)]).toEqual([5, null]);
  const fail = () => {
    throw new Error('no');
  };
  expect(fenced(fail)).toBeUndefined();
  // Without a handler, this rejection would fail the test.
  const rejected = Promise.reject(new Error('no'));
  expect(fenced(() => rejected)).toBe(rejected);
  await nextTurn();
});
