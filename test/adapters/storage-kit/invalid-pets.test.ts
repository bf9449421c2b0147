import { expect, test } from 'vitest';
import { INVALID_PETS_LIMIT, invalidPetProblems } from '../../../src/adapters/storage-kit/invalid-pets.ts';
import { petFault } from '../../../src/domain/pet.ts';

const invalid = (id: bigint) => ({ id, name: '', categoryId: 1n, status: 'sold' }) as const;
const problem = (message: string) => ({ severity: 'error', message: `${message} by another program` });

test('ten pets that break a rule are named with the rule', () => {
  const fault = 'name must have 1 to 255 characters';
  const pets = Array.from({ length: INVALID_PETS_LIMIT }, (_, index) => invalid(BigInt(index + 1)));
  const named = pets.slice(0, 10).map(({ id }) => ({
    severity: 'error',
    message: `pet ${id} was changed by another program: ${fault}`,
  }));
  expect(invalidPetProblems(pets.slice(0, 10))).toEqual(named);
  expect(invalidPetProblems(pets)).toEqual([...named, problem('more pets were changed')]);
  expect(petFault({ ...invalid(1n), name: 'Rex' })).toBeUndefined();
});
