/** The attributes of the specification. Other tests take them from `ATTRIBUTES`, whatever they are. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import {
  attributeValue,
  isPetStatus,
  type NewPet,
  type NewPetInput,
  newPet,
  PET_STATUSES,
  type Pet,
  petFault,
} from '../../src/domain/pet.ts';
import { changePet, STATUS_TRANSITIONS } from '../../src/domain/pet-change.ts';
import { parsePet, petJson } from '../../src/domain/pet-json.ts';
import { codePoint } from '../support/code-points.ts';
import { wholeJson, withRequired } from '../support/pets.ts';
import { runs } from '../support/property-runs.ts';
import { refusal } from '../support/refusal.ts';

const input: NewPetInput = withRequired({ name: 'Rex', categoryId: 1n });

/** Passes values that the types forbid, as a JavaScript caller can. */
function make(values: Record<string, unknown>): unknown {
  return newPet({ ...input, ...values } as NewPetInput);
}

describe('a name', () => {
  test('can be any well-formed text of 1 to 255 code points without U+0000, and is not changed', () => {
    const broken = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));
    const unit = fc.oneof(
      { weight: 500, arbitrary: codePoint },
      { weight: 1, arbitrary: broken },
      { weight: 1, arbitrary: fc.constant('\0') },
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 300 }), (name) => {
        const points = [...name].map((point) => point.codePointAt(0) ?? 0);
        const isGood =
          points.length >= 1 &&
          points.length <= 255 &&
          points.every((point) => point !== 0 && (point < 0xd800 || point > 0xdfff));
        if (isGood) expect(make({ name })).toHaveProperty('name', name);
        else expect(() => make({ name })).toThrow(refusal(/^name must /));
      }),
      runs(),
    );
  });

  test.each(['  Rex  ', '🐈'.repeat(255), 'e\u0301\u00e9', '\u0001\t\n\u007f'])('can be %j', (name) => {
    expect(make({ name })).toHaveProperty('name', name);
  });
});

test.each([-7, Number.MAX_SAFE_INTEGER, INT64_MIN, INT64_MAX])('a categoryId can be %s', (categoryId) => {
  expect(make({ categoryId })).toHaveProperty('categoryId', BigInt(categoryId));
});

test('a status can be each of the three, is available when it is left out, and unknown members are ignored', () => {
  for (const status of PET_STATUSES) {
    expect(make({ status })).toHaveProperty('status', status);
    expect(isPetStatus(status)).toBe(true);
  }
  expect(make({ status: undefined, id: 7n, 'x-hue': 'red' })).toEqual({ ...input, status: 'available' });
});

const LENGTH = 'name must have 1 to 255 characters';
const SURROGATE = 'name must be well-formed Unicode, without lone surrogates';
const RANGE = 'categoryId must be an integer from -9223372036854775808 to 9223372036854775807';
const STATUS = 'status must be one of available, pending, sold';

test.each<[name: string, value: unknown, message: string]>([
  ['name', undefined, 'name is required'],
  ['name', '', LENGTH],
  ['name', '🐈'.repeat(256), LENGTH],
  ['name', 'a'.repeat(1e6), LENGTH],
  ['name', 'Re\0x', 'name must not contain U+0000'],
  ['name', 'Rex\ud83d', SURROGATE],
  ['name', null, 'name must be a string'],
  ['name', new String('Rex'), 'name must be a string'],
  ['categoryId', undefined, 'categoryId is required'],
  ['categoryId', INT64_MIN - 1n, RANGE],
  ['categoryId', INT64_MAX + 1n, RANGE],
  ['categoryId', 2 ** 53, `${RANGE}: expected a bigint such as 7n, or a safe integer, got 9007199254740992`],
  ['categoryId', '1', `${RANGE}: expected a bigint such as 7n, or a safe integer, got "1"`],
  ['status', 'Sold', STATUS],
  ['status', null, STATUS],
  ['status', ['sold'], STATUS],
  ['status', 'toString', STATUS],
])('the %s cannot be %o', (name, value, message) => {
  expect(() => make({ [name]: value })).toThrow(refusal(message));
  if (name === 'name') expect(attributeValue('name', value).fault).toBe(message);
  if (name === 'status') expect(isPetStatus(value)).toBe(false);
});

test('a stored pet whose category is a number was not written by this store', () => {
  const pet = { id: 1n, ...newPet(input), categoryId: 1 } as unknown as Pet;
  expect(petFault(pet)).toBe('a value is not written as this store does');
});

test('the message of a refused transition says what is allowed', () => {
  const pet = (status: NewPet['status']): Pet => ({ id: 1n, ...newPet({ ...input, status }) });
  const refused = (from: NewPet['status'], to: NewPet['status']) => () =>
    changePet(pet(from), { status: to });
  expect(refused('sold', 'available')).toThrow(
    refusal('status cannot change from sold to available: it stays as it is', 'invalid_transition'),
  );
  expect(STATUS_TRANSITIONS.available).toEqual(['pending', 'sold']);
  expect(changePet(pet('sold'), { name: 'Max', status: 'sold' })).toMatchObject({ name: 'Max' });
});

test('the JSON of a pet has the exact digits of its numbers', () => {
  const pet = { id: INT64_MAX, name: 'é "🐈" \\\n', categoryId: INT64_MIN, status: 'sold' } as const;
  const json = wholeJson(
    '{"id":9223372036854775807,"name":"é \\"🐈\\" \\\\\\n","categoryId":-9223372036854775808,"status":"sold"}',
  );
  expect(petJson(withRequired(pet) as Pet)).toBe(json);
  expect(parsePet(json)).toEqual(withRequired(pet));
  expect(parsePet(wholeJson('{"id":1,"name":"Rex","categoryId":-7.0e0}'))).toHaveProperty('categoryId', -7n);
});
