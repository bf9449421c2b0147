/** Each rule of each attribute, for a new pet, a change and a stored pet. */

import { expect, test } from 'vitest';
import { isAlwaysStored, newPet, petFault, storedPet } from '../../src/domain/pet.ts';
import { petChange } from '../../src/domain/pet-change.ts';
import { parsePet } from '../../src/domain/pet-json.ts';
import { INVALID_VALUES, invalidJson, REX } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

test.each(INVALID_VALUES)('$name: $rule is refused by name', (invalid) => {
  const { name, value } = invalid;
  const message = refusal(new RegExp(`^${name} (?:must|is|cannot) [^;]+$`));
  expect(() => newPet({ ...REX, [name]: value } as never)).toThrow(message);
  expect(() => parsePet(invalidJson(invalid).replace('{', '{"id":1,'))).toThrow(message);
  const isRemoval = value === null && !isAlwaysStored(name);
  if (value !== undefined && !isRemoval) expect(() => petChange({ [name]: value } as never)).toThrow(message);
  if (value !== null) expect(petFault({ ...storedPet(1n, REX), [name]: value } as never)).toMatch(name);
});
