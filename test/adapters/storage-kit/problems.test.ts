import { expect, test } from 'vitest';
import { idProblems, invalidPetProblems } from '../../../src/adapters/storage-kit/problems.ts';
import { INT64_MAX } from '../../../src/domain/int64.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { INVALID_PETS, REX } from '../../support/pets.ts';

const [{ input, message: rule }] = INVALID_PETS;
const invalid = (id: number) => ({ ...input, id: BigInt(id) }) as Pet;
const VALID: Pet = { id: 9n, ...REX };
const error = (message: string) => ({ severity: 'error', message });

test('ten pets that break a rule are named with the rule', () => {
  const ids = Array.from({ length: 11 }, (_, index) => index + 1);
  const message = `was changed by another program, or is older than the rule: ${rule}`;
  const ten = ids.slice(0, 10).map((id) => error(`pet ${id} ${message}`));
  expect(invalidPetProblems(ids.slice(0, 10).map(invalid))).toEqual(ten);
  const more = error('more pets break a rule');
  expect(invalidPetProblems([VALID, ...ids.map(invalid)])).toEqual([...ten, more]);
  expect(invalidPetProblems([VALID])).toEqual([]);
});

test('a store has no problem with its ids until the last one is assigned', () => {
  expect(idProblems(INT64_MAX - 1n)).toEqual([]);
  const message =
    'all ids have been assigned: export the pets, and import them without their ids into a new store';
  expect(idProblems(INT64_MAX)).toEqual([error(message)]);
});
