import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { fenced } from '../../src/application/fenced.ts';

test('what the code of a host returns is returned, and what it throws or rejects with is discarded', async () => {
  expect([fenced(() => 5), fenced(() => null)]).toEqual([5, null]);
  const fail = () => {
    throw new Error('no');
  };
  expect(fenced(fail)).toBeUndefined();
  // A promise without a handler would end the process.
  const then = vi.fn();
  const thenable = { then };
  expect(fenced(() => thenable)).toBe(thenable);
  await nextTurn();
  expect(then).toHaveBeenCalled();
});
