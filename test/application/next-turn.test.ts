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

test('works with the timers of a program that has replaced its own', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  await nextTurn();
});

test('works without setImmediate', async () => {
  vi.stubGlobal('setImmediate', undefined);
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });
  vi.resetModules();
  const other = await import('../../src/application/next-turn.ts');
  const order: string[] = [];
  setTimeout(() => order.push('queued'), 0);
  await other.nextTurn();
  order.push('next');
  expect(order).toEqual(['queued', 'next']);
});
