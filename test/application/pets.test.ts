import { beforeEach, describe, expect, test, vi } from 'vitest';
import { MemoryPetRepository } from '../../src/adapters/memory/pet-repository.ts';
import { GetPet } from '../../src/application/get-pet.ts';
import { ListPets } from '../../src/application/list-pets.ts';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import { addAll, samplePets } from '../../src/testing/fixtures/pets.ts';
import { refusal } from '../support/refusal.ts';

const PETS = samplePets(101);

let pets: MemoryPetRepository;
let getPet: GetPet;
let listPets: ListPets;

beforeEach(async () => {
  pets = new MemoryPetRepository();
  getPet = new GetPet(pets);
  listPets = new ListPets(pets);
  await addAll(pets, PETS);
});

test('a pet is found, also with a safe integer', async () => {
  expect(await getPet.execute(7)).toEqual({ ...PETS[6], id: 7n });
});

test.each([0n, 102n, INT64_MIN, INT64_MAX + 1n, Number.MAX_SAFE_INTEGER])(
  'the id %s is not found, and the storage is read only for an int64',
  async (id) => {
    using find = vi.spyOn(pets, 'find');
    await expect(getPet.execute(id)).rejects.toThrow(refusal(`there is no pet with id ${id}`, 'not_found'));
    expect(find).toHaveBeenCalledTimes(id === INT64_MAX + 1n ? 0 : 1);
  },
);

test.each([2 ** 53, '1', undefined])('an id cannot be %j', async (id) => {
  const range = 'must be an integer from -9223372036854775808 to 9223372036854775807';
  const hint = `expected a bigint such as 7n, or a safe integer, got ${JSON.stringify(id)}`;
  await expect(getPet.execute(id as never)).rejects.toThrow(refusal(`id ${range}: ${hint}`));
});

describe('a page', () => {
  test('has the first 20 pets by default, and those after an id', async () => {
    const { pets: first, more } = await listPets.execute();
    expect(first.map(({ id }) => id)).toEqual(Array.from({ length: 20 }, (_, index) => BigInt(index + 1)));
    expect(more).toBe(true);
    expect((await listPets.execute({ after: 100 })).pets.map(({ id }) => id)).toEqual([101n]);
  });

  test.each<[query: object, message: string | RegExp]>([
    ...[0, 101, 1.5, '20', null].map(
      (limit) => [{ limit }, 'limit must be an integer from 1 to 100'] as [object, string],
    ),
    [{ after: '1' }, /^after must be an integer from .+, got "1"$/],
    [{ limit: 0, after: '1' }, /^limit must be an integer from 1 to 100; after must be an integer/],
    [
      { after: INT64_MAX + 1n },
      /^after must be an integer from -9223372036854775808 to 9223372036854775807$/,
    ],
  ])('cannot be asked for with %o', async (query, message) => {
    await expect(listPets.execute(query)).rejects.toThrow(refusal(message));
  });
});
