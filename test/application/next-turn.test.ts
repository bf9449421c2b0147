import { expect, onTestFinished, test, vi } from 'vitest';
import { nextTurn } from '../../src/application/next-turn.ts';

test('queued callbacks run first', async () => {
  using setTimeout = vi.spyOn(globalThis, 'setTimeout');
  const order: string[] = [];
  setImmediate(() => order.push('queued'));
  await nextTurn();
  order.push('next');
  expect(order).toEqual(['queued', 'next']);
  expect(setTimeout).not.toHaveBeenCalled();
});

test('works without setImmediate', async () => {
  vi.stubGlobal('setImmediate', undefined);
  onTestFinished(() => {
    vi.unstubAllGlobals();
  });
  const order: string[] = [];
  setTimeout(() => order.push('queued'), 0);
  await nextTurn();
  order.push('next');
  expect(order).toEqual(['queued', 'next']);
});
