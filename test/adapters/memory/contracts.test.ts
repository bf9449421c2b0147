import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { MemoryApiKeyRepository, openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { samplePets } from '../../../src/testing/fixtures/pets.ts';
import { importPets, inBatches } from '../../../src/testing/fixtures/transfers.ts';
import { testContracts } from '../../support/contracts.ts';
import { MAX, REX } from '../../support/pets.ts';

testContracts('in memory', (portOf) => ({
  async open() {
    const storage = openMemoryStorage();
    return { port: portOf(storage), close: () => storage.close() };
  },
  moveClock: (_, milliseconds) => void vi.setSystemTime(Date.now() + milliseconds),
}));

test('each port of a storage has its contract suite above', () => {
  const ports = Object.entries(openMemoryStorage()).flatMap(([name, port]) =>
    typeof port === 'object' ? [name] : [],
  );
  expect(ports.length).toBeGreaterThan(5);
  const suites = readFileSync(join(import.meta.dirname, '../../support/contracts.ts'), 'utf8');
  expect(ports.filter((name) => !new RegExp(`\\b${name}\\b`).test(suites))).toEqual([]);
});

test('an export has each pet as it is when its batch is read', async () => {
  const { changes, transfer } = openMemoryStorage();
  await importPets({ transfer }, inBatches(samplePets(2000)));
  const seen: Pet[] = [];
  for await (const batch of transfer.exportPets()) {
    if (seen.length === 0) {
      await changes.remove(1999n, 1999n);
      await changes.replace({ ...MAX, id: 2000n }, 2000n);
    }
    seen.push(...batch);
  }
  expect(seen.slice(1998)).toEqual([{ ...MAX, id: 2000n }]);
});

test('a found key is cached, with up to 999 others', async () => {
  const keys = new MemoryApiKeyRepository();
  const names = Array.from({ length: 1001 }, (_, index) => `key ${index}`);
  for (const name of names) await keys.add(name, { name, prefix: '', createdAt: 0 });
  using digest = vi.spyOn(crypto.subtle, 'digest');
  const lookUps = async (...searched: string[]) => {
    const before = digest.mock.calls.length;
    for (const name of searched) expect(await keys.find(name)).toMatchObject({ name });
    return digest.mock.calls.length - before;
  };
  expect(await lookUps(...names.slice(0, 1000), ...names.slice(0, 1000))).toBe(1000);
  expect(await keys.find('unknown')).toBeUndefined();
  expect(await lookUps('key 0', 'key 1', 'key 1000', 'key 0')).toBe(2);
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
