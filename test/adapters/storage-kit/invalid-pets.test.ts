import { expect, test } from 'vitest';
import { invalidPetProblems } from '../../../src/adapters/storage-kit/problems.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { INVALID_PETS } from '../../support/pets.ts';

const [{ input, message: rule }] = INVALID_PETS;
const invalid = (id: number) => ({ ...input, id: BigInt(id) }) as Pet;
const error = (message: string) => ({ severity: 'error', message });

test('ten pets that break a rule are named with the rule', () => {
  const ids = Array.from({ length: 11 }, (_, index) => index + 1);
  const message = `was changed by another program: ${rule}`;
  const ten = ids.slice(0, 10).map((id) => error(`pet ${id} ${message}`));
  expect(invalidPetProblems(ids.slice(0, 10).map(invalid))).toEqual(ten);
  const more = error('more pets were changed by another program');
  expect(invalidPetProblems(ids.map(invalid))).toEqual([...ten, more]);
});
