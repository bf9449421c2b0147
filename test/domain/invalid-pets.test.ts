/** Each rule of each attribute, whatever the attributes are. */

import { expect, test } from 'vitest';
import { newPet, petFault, storedPet } from '../../src/domain/pet.ts';
import { petChange } from '../../src/domain/pet-change.ts';
import { parsePet, parsePetMembers } from '../../src/domain/pet-json.ts';
import { INVALID_PETS, REX } from '../support/pets.ts';

test.each(INVALID_PETS)('$json is refused: $message', ({ name, value, json, message }) => {
  const input = parsePetMembers(json) as never;
  expect(() => newPet(input)).toThrow(message);
  const read = () => parsePet(json.replace('{', '{"id":1,').replace(',}', '}'));
  expect(read).toThrow(message);
  // A message about JSON must not name a type of JavaScript.
  expect(read).not.toThrow('bigint');
  expect(petFault({ ...storedPet(1n, REX), [name]: input[name] })).toMatch(name);
  if (value !== undefined && value !== 'null')
    expect(() => petChange({ [name]: input[name] } as never)).toThrow(message);
});
