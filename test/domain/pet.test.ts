import { describe, expect, test } from 'vitest';
import { INT64_MAX } from '../../src/domain/int64.ts';
import {
  ATTRIBUTES,
  examplePet,
  isAccepted,
  isAlwaysStored,
  type NewPet,
  newPet,
  PET_ATTRIBUTES,
  petFault,
  petWithId,
  storedPet,
} from '../../src/domain/pet.ts';
import { newPetJson, parsePetMembers, petJson } from '../../src/domain/pet-json.ts';
import { BARE_REX, INVALID_PETS, REX } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

test('the default is stored when nothing is given, and unknown members are ignored', () => {
  const given = { ...BARE_REX, id: 7n, 'x-hue': 'red' };
  const expected: Record<string, unknown> = { ...BARE_REX };
  for (const name of PET_ATTRIBUTES.filter(isAlwaysStored)) expected[name] ??= ATTRIBUTES[name].default;
  expect(newPet(given)).toStrictEqual(expected);
});

test('only a pet that obeys every rule is accepted, and has no fault when it is stored', () => {
  expect(isAccepted(REX)).toBe(true);
  expect(petFault({ id: 1n, ...REX })).toBeUndefined();
  for (const { input, json } of INVALID_PETS) expect(isAccepted(input), json).toBe(false);
});

test('the example has the required attributes alone, unless a rule over several attributes needs others', () => {
  const required = PET_ATTRIBUTES.filter((name) => ATTRIBUTES[name].isRequired);
  const bare = Object.fromEntries(required.map((name) => [name, ATTRIBUTES[name].example]));
  expect(examplePet()).toEqual(isAccepted(bare as never) ? bare : expect.objectContaining(bare));
  expect(isAccepted(examplePet())).toBe(true);
});

test('the message names every broken rule, or says that there is no pet', () => {
  const rules = PET_ATTRIBUTES.map((name) => `${name} must [^;]+`).join('; ');
  const wrong = Object.fromEntries(PET_ATTRIBUTES.map((name) => [name, {}]));
  expect(() => newPet(wrong as never)).toThrow(refusal(new RegExp(`^${rules}$`)));
  const required = PET_ATTRIBUTES.filter((name) => ATTRIBUTES[name].isRequired);
  const expected = `expected a pet, an object with ${required.join(', ') || 'its attributes'}`;
  for (const value of [undefined, null, 'Rex'])
    expect(() => newPet(value as never)).toThrow(refusal(expected));
});

describe('a pet with an id', () => {
  test.each([1n, 2n ** 53n + 1n, INT64_MAX, 1, Number.MAX_SAFE_INTEGER])('keeps %s as a bigint', (id) => {
    expect(petWithId({ ...REX, id })).toEqual({ ...REX, id: BigInt(id) });
  });

  test.each([0n, INT64_MAX + 1n, -1, 2 ** 53, '1', null, undefined])('cannot have %s', (id) => {
    expect(() => petWithId({ ...REX, id: id as never })).toThrow(
      refusal(/^id must be an integer from 1 to 9223372036854775807/),
    );
  });

  test('follows every other rule', () => {
    const [{ name, json, message }] = INVALID_PETS;
    const value = parsePetMembers(json)[name];
    expect(() => petWithId({ ...REX, id: 1n, [name]: value })).toThrow(message);
    expect(() => petWithId(undefined as never)).toThrow(refusal(/^id\b/));
  });
});

test('an attribute that a stored pet lacks is left out', () => {
  const pet = storedPet(1n, { ...BARE_REX, 'x-hue': 'red' } as never);
  expect(Object.keys(pet)).toEqual(['id', ...Object.keys(BARE_REX)]);
  expect(Object.isFrozen(pet)).toBe(true);
  expect(petJson(pet)).toBe(
    `{"id":1${newPetJson(BARE_REX as NewPet)
      .replace(/^\{(?=")/, ',')
      .replace('{', '')}`,
  );
});
