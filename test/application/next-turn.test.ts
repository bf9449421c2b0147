import { expect, onTestFinished, test, vi } from 'vitest';
import { nextTurn } from '../../src/application/next-turn.ts';

test('what waits goes first', async () => {
  const order: string[] = [];
  setImmediate(() => order.push('waiting'));
  await nextTurn();
  order.push('next');
  expect(order).toEqual(['waiting', 'next']);
});

test('it works where there is no setImmediate', async () => {
  vi.stubGlobal('setImmediate', undefined);
  onTestFinished(() => {
    vi.unstubAllGlobals();
  });
  const order: string[] = [];
  setTimeout(() => order.push('waiting'), 0);
  await nextTurn();
  order.push('next');
  expect(order).toEqual(['waiting', 'next']);
});
