import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';
import {
  attributeFault,
  isPetStatus,
  type NewPetInput,
  newPet,
  PET_STATUSES,
  petFault,
  petWithId,
  storedPet,
} from '../../src/domain/pet.ts';
import { petJson } from '../../src/domain/pet-json.ts';
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

test.each(PET_STATUSES)('a status can be %s', (status) => {
  expect(make({ status })).toHaveProperty('status', status);
  expect(isPetStatus(status)).toBe(true);
});

test('a status is available when it is left out, and unknown members are ignored', () => {
  expect(make({ status: undefined, id: 7n, colour: 'red' })).toEqual({ ...input, status: 'available' });
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
  if (name === 'name') expect(attributeFault('name', value)).toBe(message);
  if (name === 'status') expect(isPetStatus(value)).toBe(false);
});

test('the message names every broken rule, or says that there is no pet', () => {
  expect(() => make({ name: '', categoryId: '1', status: 'lost' })).toThrow(
    refusal(/^name must [^;]+; categoryId must [^;]+; status must [^;]+$/),
  );
  for (const value of [undefined, null])
    expect(() => newPet(value as never)).toThrow(
      refusal(/^expected a pet, an object with name, categoryId(, \w+)*$/),
    );
});

describe('a pet with an id', () => {
  test.each([1n, 2n ** 53n + 1n, INT64_MAX, 1, Number.MAX_SAFE_INTEGER])('keeps %s as a bigint', (id) => {
    expect(petWithId({ ...input, id })).toEqual({ ...input, id: BigInt(id), status: 'available' });
  });

  test.each([0n, INT64_MAX + 1n, -1, 2 ** 53, '1', null, undefined])('cannot have %s', (id) => {
    expect(() => petWithId({ ...input, id: id as never })).toThrow(
      refusal(/^id must be an integer from 1 to 9223372036854775807/),
    );
  });

  test('follows every other rule', () => {
    expect(() => petWithId({ ...input, id: 1n, name: '' })).toThrow('name must have 1 to 255 characters');
    expect(() => petWithId(undefined as never)).toThrow(refusal(/^id\b/));
  });
});

test('what is wrong with a stored pet is said, or that nothing is', () => {
  const pet = petWithId({ ...input, id: 1n });
  expect(petFault(pet)).toBeUndefined();
  expect(petFault({ ...pet, name: '' })).toBe(LENGTH);
  expect(petFault({ ...pet, categoryId: 1 } as never)).toBe('a value is not written as this store does');
});

test('an attribute that a stored pet lacks is left out', () => {
  const pet = storedPet(1n, { ...input, status: undefined, colour: 'red' } as never);
  expect(Object.keys(pet)).toEqual(['id', ...Object.keys(input)]);
  expect(Object.isFrozen(pet)).toBe(true);
  expect(petJson(pet)).toBe(wholeJson('{"id":1,"name":"Rex","categoryId":1}'));
});
