import { describe, expect, onTestFinished, test } from 'vitest';
import {
  ATTRIBUTES,
  isAccepted,
  isAlwaysStored,
  type NewPet,
  PET_ATTRIBUTES,
  petFault,
  storedPet,
} from '../../src/domain/pet.ts';
import { changePet, type PetChange, petChange, TRANSITIONS } from '../../src/domain/pet-change.ts';
import { newPetJson, petChangeJson } from '../../src/domain/pet-json.ts';
import { petWith, sampleValues } from '../../src/testing/fixtures/pets.ts';
import { PETS_UNLIKE_REX, REX, SPOIL, SPOILED_REX } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

const PET = storedPet(7n, REX);
const [FIRST = ''] = PET_ATTRIBUTES;

/** Passes values that the types forbid, as a JavaScript caller can. */
const validated = (values: unknown): PetChange => petChange(values as PetChange);

describe('a change', () => {
  test('has the known attributes alone, in their order, with exact values', () => {
    const change = validated({ 'x-hue': 1, id: 9, ...Object.fromEntries(Object.entries(REX).reverse()) });
    expect(petChangeJson(change)).toBe(newPetJson(REX));
    expect(change).toEqual(REX);
  });

  test('can be empty', () => {
    expect(petChangeJson(petChange({ [FIRST]: undefined } as Record<keyof NewPet, undefined>))).toBe('{}');
  });

  test('names every broken rule', () => {
    const rules = PET_ATTRIBUTES.map((name) => `${name} must [^;]+`).join('; ');
    const wrong = Object.fromEntries(PET_ATTRIBUTES.map((name) => [name, {}]));
    expect(() => validated(wrong)).toThrow(refusal(new RegExp(`^${rules}$`)));
  });

  test.each([undefined, null, 'text', 7, Promise.resolve({})])('cannot be %s', (input) => {
    expect(() => validated(input)).toThrow(refusal(/^expected a change/));
  });

  test.each(PET_ATTRIBUTES)(
    'null removes %s if the attribute is optional, and is refused otherwise',
    (name) => {
      const [pet, change] = [{ ...PET, [name]: ATTRIBUTES[name].example }, () => validated({ [name]: null })];
      if (isAlwaysStored(name)) expect(change).toThrow(refusal(`${name} cannot be removed`));
      else if (isAccepted(Object.assign({ ...pet }, { [name]: undefined })))
        expect(changePet(pet as typeof PET, change())).not.toHaveProperty(name);
    },
  );
});

describe('a changed pet', () => {
  test.each(
    PET_ATTRIBUTES.flatMap((name) => {
      const next = TRANSITIONS[name]?.[`${PET[name]}`];
      const values = sampleValues(ATTRIBUTES[name]).filter(
        (value) =>
          isAccepted({ ...PET, [name]: value } as NewPet) &&
          (value === PET[name] || (next?.includes(`${value}`) ?? true)),
      );
      return values.map((value) => [name, value] as const);
    }),
  )('has the new %s, and all other attributes as they were: %s', (name, value) => {
    const changed = changePet(PET, validated({ [name]: value }));
    expect(changed).toEqual({ ...PET, [name]: value });
    expect(Object.isFrozen(changed)).toBe(true);
  });

  test('obeys the rules of a new pet, also those that the change is not about', () => {
    const broken = { ...PET, ...SPOILED_REX };
    for (const name of PET_ATTRIBUTES.filter((each) => broken[each] === REX[each])) {
      const other = PETS_UNLIKE_REX.find((pet) => pet[name] !== REX[name]) ?? REX;
      const change = () => changePet(broken, validated({ [name]: other[name] }));
      if (other !== REX && SPOIL !== '') expect(change).toThrow(petFault(broken));
    }
  });

  test('is the same object when nothing changes', () => {
    expect(changePet(PET, {})).toBe(PET);
    expect(changePet(PET, validated({ ...REX }))).toBe(PET);
  });

  test.each(PET_ATTRIBUTES)(
    'has another %s only if its transitions allow it, and can always gain or lose it',
    (name) => {
      const values = sampleValues(ATTRIBUTES[name]).map((value) => ({ ...PET, [name]: value }) as typeof PET);
      const [pet, other] = values.filter((each) => isAccepted(each));
      if (pet === undefined || other === undefined) return;
      const table = { ...TRANSITIONS };
      onTestFinished(() => {
        Reflect.deleteProperty(TRANSITIONS, name);
        Object.assign(TRANSITIONS, table);
      });
      Object.assign(TRANSITIONS, { [name]: { [`${pet[name]}`]: ['this', 'that'] } });
      const refused = (from: typeof PET, to: typeof PET, rule: string) =>
        expect(() => changePet(from, validated({ [name]: to[name] }))).toThrow(
          refusal(`${name} cannot change from ${from[name]} to ${to[name]}: ${rule}`, 'invalid_transition'),
        );
      refused(pet, other, 'it can become this or that');
      refused(other, pet, 'it stays as it is');
      const without = Object.assign({ ...pet }, { [name]: undefined });
      if (isAlwaysStored(name) || !isAccepted(without)) return;
      expect(changePet(pet, validated({ [name]: null }))).toEqual(without);
      expect(changePet(without, validated({ [name]: pet[name] }))).toEqual(pet);
    },
  );

  test('keeps its id', () => {
    expect(changePet(PET, { ...PETS_UNLIKE_REX[0], id: 8n } as PetChange).id).toBe(7n);
  });
});

test.each(
  Object.entries(TRANSITIONS).flatMap(([name, next]) =>
    Object.keys(next).flatMap((from) =>
      Object.keys(next).map((to) => [name, from, to, next[from] ?? []] as const),
    ),
  ),
)('%s changes from %s to %s only as the table says', (name, from, to, allowed) => {
  const pet = storedPet(7n, petWith(REX, { [name]: from }) ?? REX);
  const change = () => changePet(pet, { [name]: to });
  if (from === to) expect(change()).toBe(pet);
  else if (!allowed.includes(to))
    expect(change).toThrow(
      refusal(new RegExp(`^${name} cannot change from ${from} to ${to}: `), 'invalid_transition'),
    );
  else if (isAccepted({ ...pet, [name]: to } as NewPet)) expect(change()).toEqual({ ...pet, [name]: to });
});
