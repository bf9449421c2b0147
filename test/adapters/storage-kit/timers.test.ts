import { expect, test, vi } from 'vitest';

const load = () => import('../../../src/adapters/storage-kit/timers.ts');

test('a turn ends with setImmediate, or where that is missing, as in browsers, with a timer', async () => {
  expect((await load()).afterThisTurn).toBe(setImmediate);
  vi.stubGlobal('setImmediate', undefined);
  vi.resetModules();
  const { afterThisTurn } = await load();
  vi.unstubAllGlobals();
  await new Promise<void>(afterThisTurn);
});
