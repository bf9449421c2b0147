import { describe, expect, test } from 'vitest';
import { ATTRIBUTES, isAlwaysStored, PET_ATTRIBUTES, PET_STATUSES, storedPet } from '../../src/domain/pet.ts';
import { changePet, type PetChange, petChange, STATUS_TRANSITIONS } from '../../src/domain/pet-change.ts';
import { petChangeJson } from '../../src/domain/pet-json.ts';
import { sampleValues } from '../../src/testing/fixtures/pets.ts';
import { REX } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

const PET = storedPet(7n, REX);

/** Passes values that the types forbid, as a JavaScript caller can. */
const validated = (values: unknown): PetChange => petChange(values as PetChange);

describe('a change', () => {
  test('has the known attributes alone, in their order, with exact values', () => {
    const change = validated({ colour: 'red', status: 'sold', id: 9, categoryId: 8, name: 'Max' });
    expect(petChangeJson(change)).toBe('{"name":"Max","categoryId":8,"status":"sold"}');
    expect(change).toEqual({ name: 'Max', categoryId: 8n, status: 'sold' });
  });

  test('can be empty', () => {
    expect(petChangeJson(validated({ name: undefined }))).toBe('{}');
  });

  test('names every broken rule', () => {
    expect(() => validated({ name: '', categoryId: 2n ** 63n, status: 'lost' })).toThrow(
      refusal(
        'name must have 1 to 255 characters; categoryId must be an integer from -9223372036854775808 to ' +
          '9223372036854775807; status must be one of available, pending, sold',
      ),
    );
  });

  test.each([undefined, null, 'sold', 7])('cannot be %s', (input) => {
    expect(() => validated(input)).toThrow(refusal(/^expected a change/));
  });

  test.each(PET_ATTRIBUTES)(
    'null removes %s if the attribute is optional, and is refused otherwise',
    (name) => {
      const change = () => validated({ [name]: null });
      if (isAlwaysStored(name)) expect(change).toThrow(refusal(`${name} cannot be removed`));
      else expect(changePet({ ...PET, [name]: ATTRIBUTES[name].example }, change())).not.toHaveProperty(name);
    },
  );
});

describe('a changed pet', () => {
  test.each(
    PET_ATTRIBUTES.flatMap((name) => sampleValues(ATTRIBUTES[name]).map((value) => [name, value] as const)),
  )('has the new %s, and all other attributes as they were: %s', (name, value) => {
    const changed = changePet(PET, validated({ [name]: value }));
    expect(changed).toEqual({ ...PET, [name]: value });
    expect(Object.isFrozen(changed)).toBe(true);
  });

  test('is the same object when nothing changes', () => {
    expect(changePet(PET, {})).toBe(PET);
    expect(changePet(PET, validated({ ...REX }))).toBe(PET);
  });

  test('keeps its id', () => {
    expect(changePet(PET, { ...validated({ name: 'Max' }), id: 8n } as PetChange).id).toBe(7n);
  });
});

describe('a status', () => {
  test.each(PET_STATUSES.flatMap((from) => PET_STATUSES.map((to) => [from, to] as const)))(
    'changes from %s to %s only as the table says',
    (from, to) => {
      const pet = { ...PET, status: from };
      const change = () => changePet(pet, { status: to });
      if (from === to) expect(change()).toBe(pet);
      else if (STATUS_TRANSITIONS[from].includes(to)) expect(change()).toEqual({ ...pet, status: to });
      else
        expect(change).toThrow(
          refusal(new RegExp(`^status cannot change from ${from} to ${to}: `), 'invalid_transition'),
        );
    },
  );

  test('the message of a refused transition says what is allowed', () => {
    expect(() => changePet({ ...PET, status: 'sold' }, { status: 'available' })).toThrow(
      refusal('status cannot change from sold to available: it stays as it is', 'invalid_transition'),
    );
  });

  test('a sold pet can change its other attributes', () => {
    expect(changePet({ ...PET, status: 'sold' }, { name: 'Max', status: 'sold' })).toMatchObject({
      name: 'Max',
    });
  });
});
