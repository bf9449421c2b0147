import { expect, test } from 'vitest';
import { invalidPetProblems } from '../../../src/adapters/storage-kit/invalid-pets.ts';
import { petFault } from '../../../src/domain/pet.ts';
import { withRequired } from '../../support/pets.ts';

const unnamed = (id: number) => withRequired({ id: BigInt(id), name: '', categoryId: 1n, status: 'sold' });
const error = (message: string) => ({ severity: 'error', message });

test('ten pets that break a rule are named with the rule', () => {
  const ids = Array.from({ length: 11 }, (_, index) => index + 1);
  const message = 'was changed by another program: name must have 1 to 255 characters';
  const ten = ids.slice(0, 10).map((id) => error(`pet ${id} ${message}`));
  expect(invalidPetProblems(ids.slice(0, 10).map(unnamed))).toEqual(ten);
  const more = error('more pets were changed by another program');
  expect(invalidPetProblems(ids.map(unnamed))).toEqual([...ten, more]);
  expect(petFault({ ...unnamed(1), name: 'Rex' })).toBeUndefined();
});
