import { expect, test } from 'vitest';
import { MemoryIdempotentCreates } from '../../../src/adapters/memory/idempotent-creates.ts';
import { OpenState } from '../../../src/adapters/memory/open-state.ts';
import { MemoryPetRepository } from '../../../src/adapters/memory/pet-repository.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';

const attempt = (key: string, caller: string, at = 1) => ({ caller, key, at, validFrom: at });

test('a caller with too many records is refused, and others are not', async () => {
  const pets = new MemoryPetRepository();
  const creates = new MemoryIdempotentCreates(pets, new OpenState(), 2);
  for (const key of ['a', 'b']) await creates.add(samplePet('Rex'), attempt(key, '1'));
  await expect(creates.add(samplePet('Rex'), attempt('c', '1'))).rejects.toMatchObject({
    code: 'overloaded',
  });
  expect((await creates.add(samplePet('Rex'), attempt('b', '1'))).isReplay).toBe(true);
  expect((await creates.add(samplePet('Rex'), attempt('c', '2'))).isReplay).toBe(false);
  expect(await creates.removeRecords(2, 1)).toBe(1);
  expect((await creates.add(samplePet('Rex'), attempt('c', '1', 2))).isReplay).toBe(false);
  expect((await pets.list({ limit: 100 })).pets).toHaveLength(4);
});

test('a record that is no longer valid makes room for its successor', async () => {
  const creates = new MemoryIdempotentCreates(new MemoryPetRepository(), new OpenState(), 1);
  await creates.add(samplePet('Rex'), attempt('a', '1', 1));
  expect((await creates.add(samplePet('Rex'), attempt('a', '1', 2))).isReplay).toBe(false);
  expect(await creates.count()).toBe(1);
});
