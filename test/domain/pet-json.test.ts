import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import { parseJson } from '../../src/domain/json.ts';
import {
  ATTRIBUTES,
  type NewPetInput,
  newPet,
  PET_ATTRIBUTES,
  type Pet,
  petWithId,
} from '../../src/domain/pet.ts';
import {
  newPetJson,
  parsePet,
  parsePetMembers,
  parsePets,
  parseStoredPets,
  petJson,
  petsJson,
  storedPetFrom,
} from '../../src/domain/pet-json.ts';
import { samplePet } from '../../src/testing/fixtures/pets.ts';
import { anyNewPet } from '../support/any-pet.ts';
import { BARE_REX, INVALID_PETS, jsonWith, REX } from '../support/pets.ts';
import { runs } from '../support/property-runs.ts';
import { refusal } from '../support/refusal.ts';

const PET: Pet = { id: INT64_MAX, ...samplePet('é "🐈" \\\n', INT64_MIN) };
const PET_JSON = petJson(PET);

const anyPet: fc.Arbitrary<Pet> = fc
  .tuple(fc.bigInt({ min: 1n, max: INT64_MAX }), anyNewPet)
  .map(([id, pet]) => petWithId({ id, ...pet }));

/** Reads JSON with the parser of Node.js alone, and takes each integer from its digits. */
function exactly(text: string): unknown {
  return JSON.parse(text, ((_key: string, value: unknown, { source }: { source: string }) =>
    typeof value === 'number' ? BigInt(source) : value) as (key: string, value: unknown) => unknown);
}

describe('petJson and petsJson', () => {
  test('have a fixed order, and no spaces', () => {
    expect(petsJson([PET, PET])).toBe(`[${PET_JSON},${PET_JSON}]`);
    expect(Object.keys(JSON.parse(PET_JSON))).toEqual(['id', ...PET_ATTRIBUTES]);
  });

  test('write JSON with the exact digits of every int64, which parsePet and parsePets read', () => {
    const exact = (pet: object) =>
      Object.fromEntries(
        Object.entries(pet).map(([name, value]) => [name, typeof value === 'number' ? BigInt(value) : value]),
      );
    const check = (pet: Pet) => {
      const { id: _, ...attributes } = pet;
      expect(exactly(petJson(pet))).toEqual(exact(pet));
      expect(exactly(newPetJson(attributes))).toEqual(exact(attributes));
      expect(parsePet(petJson(pet))).toEqual(pet);
    };
    fc.assert(fc.property(anyPet, check), runs());
    const readBack = (pets: Pet[]) => void expect(parsePets(petsJson(pets))).toEqual(pets);
    fc.assert(fc.property(fc.array(anyPet), readBack), runs(30));
  });
});

describe('parsePet and parsePets', () => {
  test('read any notation of an int64, and ignore white space and other members', () => {
    const text = petJson({ ...PET, id: 5n }).replace('{"id":5,', ' { "id" : 5e0, "x-hue":1.5,');
    expect(parsePet(`${text}\n`)).toEqual({ ...PET, id: 5n });
  });

  test.each(['9223372036854775808', '1.5', '"7"', 'null'])('the id %s is out of range', (number) => {
    expect(() => parsePet(PET_JSON.replace(/(?<="id":)\d+/, number))).toThrow(
      refusal('id must be an integer from 1 to 9223372036854775807'),
    );
  });

  test.each([
    [newPetJson(REX), 'id is required'],
    ['[]', 'expected a JSON object'],
  ])('%s is not a pet', (text, message) => {
    expect(() => parsePet(text)).toThrow(refusal(message));
  });

  const [{ json, message: fault }] = INVALID_PETS;
  test.each([
    ['{}', 'expected a JSON array'],
    [`[${PET_JSON},${json.replace('{', '{"id":2,').replace(',}', '}')}]`, `[1], pet 2: ${fault}`],
    ['[{"id":0.5}]', '[0]: id must be an integer from 1 to 9223372036854775807'],
    [`[${PET_JSON},${PET_JSON},7]`, '[2]: expected a JSON object'],
  ])('%s is not an array of pets', (text, message) => {
    expect(() => parsePets(text)).toThrow(message);
  });
});

describe('parseStoredPets', () => {
  test('read pets that break rules, as another program has changed them', () => {
    const stored = [PET, { ...PET, id: 0n }, { ...newPet(BARE_REX), id: 0n }];
    expect(parseStoredPets(petsJson(stored))).toStrictEqual(stored);
    expect(stored.map((pet) => storedPetFrom(parseJson(petJson(pet))))).toStrictEqual(stored);
    expect(Object.isFrozen(storedPetFrom(parseJson(PET_JSON)))).toBe(true);
  });

  test.each([
    [PET_JSON.replace(/(?<="id":)\d+/, '"1"'), ': id must be an integer from 1 to 9223372036854775807'],
    ...PET_ATTRIBUTES.map((name) => [
      jsonWith(name, '[]').replace('{', '{"id":1,'),
      `, pet 1: ${name} must `,
    ]),
    ...PET_ATTRIBUTES.filter((name) => ATTRIBUTES[name].isRequired).map((name) => [
      jsonWith(name, undefined).replace('{', '{"id":1,').replace(',}', '}'),
      `, pet 1: ${name} is required`,
    ]),
    ['7', ': expected a JSON object'],
  ])('%s has values of wrong types', (text, message) => {
    expect(() => parseStoredPets(`[${text}]`)).toThrow(`[0]${message}`);
  });
});

test('parsePetMembers reads the members without a rule', () => {
  const names = Object.fromEntries(PET_ATTRIBUTES.map((name) => [name, undefined]));
  expect(parsePetMembers('{"id":9007199254740993,"x-hue":7}')).toEqual({ ...names, id: 2n ** 53n + 1n });
  expect(() => parsePetMembers('[{}]')).toThrow(refusal('expected a JSON object'));
});

test('JSON.stringify with JSON.rawJSON, as docs/embedding.md shows, writes the same numbers', () => {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  const text = JSON.stringify({ pet: PET }, (_, value) =>
    typeof value === 'bigint' ? rawJSON(String(value)) : value,
  );
  expect(text).toBe(`{"pet":${PET_JSON}}`);
  expect(() => JSON.stringify(PET satisfies NewPetInput)).toThrow(TypeError);
});
