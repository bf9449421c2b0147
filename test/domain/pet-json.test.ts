import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import { type NewPetInput, PET_STATUSES, type Pet } from '../../src/domain/pet.ts';
import {
  newPetJson,
  parsePet,
  parsePetMembers,
  parsePets,
  parseStoredPets,
  petJson,
  petsJson,
} from '../../src/domain/pet-json.ts';
import { codePoint } from '../support/code-points.ts';
import { wholeJson, withRequired } from '../support/pets.ts';
import { runs } from '../support/property-runs.ts';
import { refusal } from '../support/refusal.ts';

const REX: Pet = withRequired({
  id: INT64_MAX,
  name: 'é "🐈" \\\n',
  categoryId: INT64_MIN,
  status: 'sold',
});
const REX_JSON = wholeJson(
  '{"id":9223372036854775807,"name":"é \\"🐈\\" \\\\\\n","categoryId":-9223372036854775808,"status":"sold"}',
);

const anyPet: fc.Arbitrary<Pet> = fc
  .record({
    id: fc.bigInt({ min: 1n, max: INT64_MAX }),
    name: fc
      .string({ unit: codePoint, minLength: 1, maxLength: 255 })
      .map((name) => name.replaceAll('\0', ' '))
      .filter((name) => name.isWellFormed()),
    categoryId: fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
    status: fc.constantFrom(...PET_STATUSES),
  })
  .map(withRequired);

/** Reads JSON with the parser of Node.js alone, and takes each integer from its digits. */
function exactly(text: string): unknown {
  return JSON.parse(text, ((_key: string, value: unknown, { source }: { source: string }) =>
    typeof value === 'number' ? BigInt(source) : value) as (key: string, value: unknown) => unknown);
}

describe('petJson and petsJson', () => {
  test('have a fixed order, and no spaces', () => {
    expect(petsJson([REX, REX])).toBe(`[${REX_JSON},${REX_JSON}]`);
  });

  test('write JSON with the exact digits of every int64, which parsePet and parsePets read', () => {
    const check = (pet: Pet) => {
      const { id: _, ...attributes } = pet;
      expect(exactly(petJson(pet))).toEqual(pet);
      expect(exactly(newPetJson(attributes))).toEqual(attributes);
      expect(parsePet(petJson(pet))).toEqual(pet);
    };
    fc.assert(fc.property(anyPet, check), runs());
    const readBack = (pets: Pet[]) => void expect(parsePets(petsJson(pets))).toEqual(pets);
    fc.assert(fc.property(fc.array(anyPet), readBack), runs(30));
  });
});

describe('parsePet and parsePets', () => {
  test('read any notation of an int64, and ignore white space and other members', () => {
    expect(parsePet(wholeJson(' {"id":5e0, "name":"Rex", "categoryId":-7.0, "colour":1.5}\n'))).toEqual(
      withRequired({ id: 5n, name: 'Rex', categoryId: -7n, status: 'available' }),
    );
  });

  test.each(['9223372036854775808', '1.5', '"7"', 'null'])('the numbers %s are out of range', (number) => {
    expect(() => parsePet(wholeJson(`{"id":${number},"name":"Rex","categoryId":7}`))).toThrow(
      refusal('id must be an integer from 1 to 9223372036854775807'),
    );
    expect(() => parsePet(wholeJson(`{"id":1,"name":"","categoryId":${number}}`))).toThrow(
      refusal(
        'name must have 1 to 255 characters; categoryId must be an integer from -9223372036854775808 to 9223372036854775807',
      ),
    );
  });

  test.each([
    ['{"name":"Rex","categoryId":7}', 'id is required'],
    ['{"id":1}', /^name is required; categoryId is required\b/],
    [
      '{"id":1,"name":"Rex","categoryId":7,"status":"lost"}',
      'status must be one of available, pending, sold',
    ],
    ['[]', 'expected a JSON object'],
  ])('%s is not a pet', (text, message) => {
    expect(() => parsePet(wholeJson(text))).toThrow(refusal(message));
  });

  test.each([
    ['{}', 'expected a JSON array'],
    [`[${REX_JSON},{"id":2,"name":"Tom"}]`, /^\[1\], pet 2: categoryId is required\b/],
    ['[{"id":0.5,"name":"Tom","categoryId":7}]', '[0]: id must be an integer from 1 to 9223372036854775807'],
    [`[${REX_JSON},${REX_JSON},7]`, '[2]: expected a JSON object'],
  ])('%s is not an array of pets', (text, message) => {
    expect(() => parsePets(wholeJson(text))).toThrow(refusal(message));
  });
});

describe('parseStoredPets', () => {
  test('read pets that break rules, as another program has changed them', () => {
    const changed = withRequired({ id: 0n, name: '\0', categoryId: 7n, status: 'So"ld' }) as unknown as Pet;
    expect(parseStoredPets(petsJson([REX, changed]))).toEqual([REX, changed]);
  });

  test.each([
    [
      '{"id":"1","name":"Rex","categoryId":7,"status":"sold"}',
      ': id must be an integer from 1 to 9223372036854775807',
    ],
    ['{"id":1,"name":7,"categoryId":7,"status":"sold"}', ', pet 1: name must be a string'],
    ['7', ': expected a JSON object'],
  ])('%s has values of wrong types', (text, message) => {
    expect(() => parseStoredPets(wholeJson(`[${text}]`))).toThrow(refusal(`[0]${message}`));
  });
});

test('parsePetMembers reads the members without a rule', () => {
  const members = { id: undefined, name: true, categoryId: 9007199254740993n, status: undefined };
  expect(parsePetMembers('{"name":true,"categoryId":9007199254740993,"colour":"red"}')).toEqual(members);
  expect(() => parsePetMembers('[{}]')).toThrow(refusal('expected a JSON object'));
});

test('JSON.stringify with JSON.rawJSON, as docs/embedding.md shows, writes the same numbers', () => {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  const text = JSON.stringify({ pet: REX }, (_, value) =>
    typeof value === 'bigint' ? rawJSON(String(value)) : value,
  );
  expect(text).toBe(`{"pet":${REX_JSON}}`);
  expect(() => JSON.stringify(REX satisfies NewPetInput)).toThrow(TypeError);
});
