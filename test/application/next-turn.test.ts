import { expect, onTestFinished, test, vi } from 'vitest';
import { nextTurn } from '../../src/application/pause.ts';

test('queued callbacks run first, also when a program has replaced its timers', async () => {
  const order: string[] = [];
  setImmediate(() => order.push('queued'));
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  await nextTurn();
  order.push('next');
  expect(order).toEqual(['queued', 'next']);
});

/** Loads the module in a program that lacks a global function. */
async function nextTurnWithout(name: string): Promise<typeof nextTurn> {
  vi.stubGlobal(name, undefined);
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });
  vi.resetModules();
  return (await import('../../src/application/pause.ts')).nextTurn;
}

test('needs no timer', async () => {
  const other = await nextTurnWithout('setTimeout');
  await expect(other()).resolves.toBeUndefined();
});

test('works without setImmediate', async () => {
  const other = await nextTurnWithout('setImmediate');
  const order: string[] = [];
  setTimeout(() => order.push('queued'), 0);
  await other();
  order.push('next');
  expect(order).toEqual(['queued', 'next']);
});
