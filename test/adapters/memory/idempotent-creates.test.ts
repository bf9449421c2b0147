import { expect, test } from 'vitest';
import { MemoryIdempotentCreates } from '../../../src/adapters/memory/idempotent-creates.ts';
import { MemoryPetRepository } from '../../../src/adapters/memory/pet-repository.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';

const attempt = (key: string, caller: string, at = 1) => ({ caller, key, at, validFrom: at });

test('a caller with too many records is refused, and others are not', async () => {
  const pets = new MemoryPetRepository();
  const creates = new MemoryIdempotentCreates(pets, new AbortController().signal, 2);
  for (const key of ['a', 'b']) await creates.add(samplePet('Rex'), attempt(key, '1'));
  await expect(creates.add(samplePet('Rex'), attempt('c', '1'))).rejects.toMatchObject({
    code: 'rate_limited',
    retryAfter: 120,
  });
  expect((await creates.add(samplePet('Rex'), attempt('b', '1'))).isReplay).toBe(true);
  expect((await creates.add(samplePet('Rex'), attempt('c', '2'))).isReplay).toBe(false);
  expect(await creates.removeRecords(2, 1)).toBe(1);
  expect((await creates.add(samplePet('Rex'), attempt('c', '1', 2))).isReplay).toBe(false);
  expect((await pets.list({ limit: 100 })).pets).toHaveLength(4);
});

test('a record that is no longer valid makes room for its successor', async () => {
  const creates = new MemoryIdempotentCreates(new MemoryPetRepository(), new AbortController().signal, 1);
  await creates.add(samplePet('Rex'), attempt('a', '1', 1));
  expect((await creates.add(samplePet('Rex'), attempt('a', '1', 2))).isReplay).toBe(false);
  expect(await creates.count()).toBe(1);
});

test('a refused caller learns when its own oldest record expires', async () => {
  const creates = new MemoryIdempotentCreates(new MemoryPetRepository(), new AbortController().signal, 2);
  const add = (key: string, caller: string, at: number) =>
    creates.add(samplePet('Rex'), { caller, key, at, validFrom: at - 100_000 });
  await add('a', '2', 1000);
  for (const [key, at] of [['a', 11_000] as const, ['b', 21_000] as const]) await add(key, '1', at);
  await expect(add('c', '1', 31_000)).rejects.toMatchObject({ retryAfter: 80 + 120 });
  expect(await creates.removeRecords(12_000, 10)).toBe(2);
  await add('c', '1', 32_000);
  await expect(add('d', '1', 41_000)).rejects.toMatchObject({ retryAfter: 80 + 120 });
});
