import { beforeEach, describe, expect, test, vi } from 'vitest';
import { MemoryPetRepository } from '../../src/adapters/memory/pet-repository.ts';
import { CreatePet } from '../../src/application/create-pet.ts';
import { GetPet } from '../../src/application/get-pet.ts';
import { ListPets } from '../../src/application/list-pets.ts';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import { refusal } from '../support/refusal.ts';

let pets: MemoryPetRepository;
let createPet: CreatePet;
let getPet: GetPet;
let listPets: ListPets;

beforeEach(() => {
  pets = new MemoryPetRepository();
  createPet = new CreatePet(pets);
  getPet = new GetPet(pets);
  listPets = new ListPets(pets);
});

async function addPets(count: number): Promise<void> {
  for (let index = 1; index <= count; index++) {
    await createPet.execute({ name: `pet ${index}`, categoryId: BigInt(index) });
  }
}

describe('GetPet', () => {
  test.each([0n, 2n, INT64_MIN, INT64_MAX + 1n, 0, Number.MAX_SAFE_INTEGER])(
    'rejects with not_found for id %s, and reads the storage only for an int64',
    async (id) => {
      await addPets(1);
      using find = vi.spyOn(pets, 'find');
      await expect(getPet.execute(id)).rejects.toThrow(refusal(`there is no pet with id ${id}`, 'not_found'));
      expect(find).toHaveBeenCalledTimes(id === INT64_MAX + 1n ? 0 : 1);
    },
  );
});

describe('an id', () => {
  test('can be a safe integer', async () => {
    const pet = await createPet.execute({ name: 'Rex', categoryId: 7 });
    expect(pet).toEqual({ id: 1n, name: 'Rex', categoryId: 7n, status: 'available' });
    expect(await getPet.execute(1)).toEqual(pet);
    expect((await listPets.execute({ after: 0 })).pets).toEqual([pet]);
    expect((await listPets.execute({ after: 1 })).pets).toEqual([]);
  });

  test.each([
    [2 ** 53, '9007199254740992'],
    ['1', '"1"'],
    [undefined, 'undefined'],
  ])('cannot be %s', async (id, got) => {
    const range = 'must be an integer from -9223372036854775808 to 9223372036854775807';
    const hint = `expected a bigint such as 7n, or a safe integer, got ${got}`;
    await expect(getPet.execute(id as never)).rejects.toThrow(refusal(`id ${range}: ${hint}`));
    if (id === undefined) return;
    await expect(listPets.execute({ after: id as never })).rejects.toThrow(
      refusal(`after ${range}: ${hint}`),
    );
  });
});

describe('ListPets', () => {
  test('returns the first 20 pets by default', async () => {
    await addPets(21);
    const page = await listPets.execute();
    expect(page.pets.map(({ id }) => id)).toEqual(
      Array.from({ length: 20 }, (_, index) => BigInt(index + 1)),
    );
    expect(page.more).toBe(true);
  });

  test.each([1, 100])('limit %i is in range', async (limit) => {
    await addPets(101);
    expect((await listPets.execute({ limit })).pets).toHaveLength(limit);
  });

  test.each([0, 101, 1.5, Number.NaN, '20', null])('limit %s is out of range', async (limit) => {
    await expect(listPets.execute({ limit: limit as number })).rejects.toThrow(
      refusal('limit must be an integer from 1 to 100'),
    );
  });

  test.each(['', 'Sold', null])('status %j is refused', async (status) => {
    await expect(listPets.execute({ status: status as 'sold' })).rejects.toThrow(
      refusal('status must be one of available, pending, sold'),
    );
  });

  test('after cannot be greater than any id', async () => {
    await expect(listPets.execute({ after: INT64_MAX + 1n })).rejects.toThrow(
      refusal('after must be an integer from -9223372036854775808 to 9223372036854775807'),
    );
  });
});
