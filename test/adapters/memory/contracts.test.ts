import { expect, onTestFinished, test, vi } from 'vitest';
import { MemoryApiKeyRepository, openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { testContracts } from '../../support/contracts.ts';
import { REX } from '../../support/pets.ts';

testContracts('in memory', (portOf) => ({
  async open() {
    const storage = openMemoryStorage();
    return { port: portOf(storage), close: () => storage.close() };
  },
  moveClock: (_, milliseconds) => void vi.setSystemTime(Date.now() + milliseconds),
}));

test('more keys than are cached are all found', async () => {
  const keys = new MemoryApiKeyRepository();
  const names = Array.from({ length: 1005 }, (_, index) => `key ${index}`);
  for (const name of names) await keys.add(name, { name, prefix: '', createdAt: 0 });
  for (const name of [...names, ...names.slice(0, 5)]) expect(await keys.find(name)).toMatchObject({ name });
});

test('each step of a removal takes as long as its records, however many there are', async () => {
  const { idempotentCreates, idempotencyRecords } = openMemoryStorage();
  onTestFinished(() => void vi.useRealTimers());
  for (let key = 0; key < 100_000; key += 1)
    await idempotentCreates.add(REX, { caller: '1', key: `${key}`, validFor: 1 });
  vi.setSystemTime(Date.now() + 100_000);
  // With a sort in each step, this lasts longer than a test may.
  for (let left = 100_000; left > 0; left -= 100)
    expect(await idempotencyRecords.removeRecords(100)).toBe(100);
  expect(await idempotencyRecords.count()).toBe(0);
});
