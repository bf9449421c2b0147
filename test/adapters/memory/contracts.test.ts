import { expect, test } from 'vitest';
import { MemoryApiKeyRepository, openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { testContracts } from '../../support/contracts.ts';
import { REX } from '../../support/pets.ts';

testContracts('in memory', (portOf) => ({
  async open() {
    const storage = openMemoryStorage();
    return { port: portOf(storage), close: () => storage.close() };
  },
}));

test('more keys than are cached are all found', async () => {
  const keys = new MemoryApiKeyRepository();
  const names = Array.from({ length: 1005 }, (_, index) => `key ${index}`);
  for (const name of names) await keys.add(name, { name, prefix: '', createdAt: 0 });
  for (const name of [...names, ...names.slice(0, 5)]) expect(await keys.find(name)).toMatchObject({ name });
});

test('of the ended records, the oldest are removed first', async () => {
  const { idempotentCreates, idempotencyRecords } = openMemoryStorage();
  const add = (key: string, validUntil: number) =>
    idempotentCreates.add(REX, { caller: '1', key, at: 0, validUntil });
  for (const [key, end] of [
    ['b', 2],
    ['a', 1],
    ['c', 3],
  ] as const)
    await add(key, end);
  expect(await idempotencyRecords.removeRecords(3, 1)).toBe(1);
  expect((await add('a', 9)).isReplay).toBe(false);
  expect(await idempotencyRecords.removeRecords(3, 9)).toBe(1);
  expect((await add('c', 9)).isReplay).toBe(true);
});

test('after the end of the storage, every call is refused', async () => {
  const { idempotentCreates, idempotencyRecords, close } = openMemoryStorage();
  const attempt = { caller: '1', key: 'a', at: 0, validUntil: 1 };
  await idempotentCreates.add(REX, attempt);
  await close();
  for (const call of [
    () => idempotentCreates.add(REX, attempt),
    () => idempotencyRecords.count(),
    () => idempotencyRecords.removeRecords(9, 9),
  ])
    await expect(call()).rejects.toMatchObject({ code: 'storage_unavailable' });
});
