import { expect, onTestFinished, test, vi } from 'vitest';
import { nextTurn } from '../../src/application/next-turn.ts';

test('queued callbacks run first, also when a program has replaced its timers', async () => {
  const order: string[] = [];
  setImmediate(() => order.push('queued'));
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  await nextTurn();
  order.push('next');
  expect(order).toEqual(['queued', 'next']);
});

test('needs no timer', async () => {
  vi.stubGlobal('setTimeout', undefined);
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });
  vi.resetModules();
  const other = await import('../../src/application/next-turn.ts');
  await expect(other.nextTurn()).resolves.toBeUndefined();
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
