/** The pets in the examples of the OpenAPI document. Their values follow from `ATTRIBUTES`. */

import {
  ATTRIBUTES,
  attributeValue,
  examplePet,
  isAccepted,
  isAlwaysStored,
  type NewPet,
  newPet,
  PET_ATTRIBUTES,
  type Pet,
} from '../src/domain/pet.ts';
import { changePet, TRANSITIONS } from '../src/domain/pet-change.ts';
import type { Part } from './schemas.ts';

const OTHER_TEXT = 'Минька 🐈';

/** Two new pets: one with the required attributes, and one with all attributes. */
export const NEW_REX: Part = { ...examplePet() };
export const NEW_MINKA: Part = everyOtherValue();

export const REX: Part = { id: 1, ...newPet(examplePet()) };
export const MINKA: Part = { id: 2, ...NEW_MINKA };

/** A change that gives {@link REX} one value of {@link MINKA}, in the last attribute for which the rules allow it. */
export const CHANGE: Part =
  PET_ATTRIBUTES.map((name) => ({ [name]: NEW_MINKA[name] })).findLast((change) => {
    const pet = changed(REX, change);
    return pet !== REX && typeof pet !== 'string';
  }) ?? {};

const NO_OBJECT = 'the body must be a JSON object';

/** The messages for a pet that lacks a required attribute, and for a change that removes an attribute that every pet has. */
export const LACKING: string = message(
  PET_ATTRIBUTES.findLast((name) => ATTRIBUTES[name].isRequired),
  'is required',
);
export const NOT_REMOVED: string = message(PET_ATTRIBUTES.find(isAlwaysStored), 'cannot be removed');

function message(name: string | undefined, fault: string): string {
  return name === undefined ? NO_OBJECT : `${name} ${fault}`;
}

/** A transition that a rule forbids, with the error message; `undefined` if no rule forbids a transition. */
export const FORBIDDEN_TRANSITION: Readonly<Record<'name' | 'from' | 'to' | 'message', string>> | undefined =
  Object.entries(TRANSITIONS).flatMap(([name, next]) =>
    Object.entries(next).flatMap(([from, allowed]) =>
      Object.keys(next)
        .filter((to) => to !== from && !allowed.includes(to))
        .map((to) => ({ name, from, to, message: transitionFault(name, from, to) })),
    ),
  )[0];

function transitionFault(name: string, from: string, to: string): string {
  return String(changed({ id: 1, [name]: from }, { [name]: to }));
}

/** Applies a change. Returns the same object if nothing changes, and the error message if a rule forbids the change. */
function changed(pet: Part, change: Part): Pet | Part | string {
  try {
    return changePet(pet as unknown as Pet, change);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Returns a pet with all attributes. Each value differs from the example of its attribute, if the rules allow that. */
function everyOtherValue(): Part {
  let pet: Part = Object.fromEntries(PET_ATTRIBUTES.map((name) => [name, ATTRIBUTES[name].example]));
  for (const name of PET_ATTRIBUTES) {
    const next = { ...pet, [name]: otherValue(name) };
    if (isAccepted(next as unknown as NewPet)) pet = next;
  }
  return pet;
}

/**
 * Returns a valid value that differs from the example, or the example if no other value is found. For an int64, prefers the
 * smallest positive integer that a double cannot represent. Such a value reveals clients that round large integers.
 */
function otherValue(name: keyof NewPet): unknown {
  const attribute = ATTRIBUTES[name];
  const { kind, example: first } = attribute;
  const values =
    kind === 'one of'
      ? attribute.values
      : [OTHER_TEXT, 2n ** 53n + 1n, true, false, '2024-02-29T23:59:59.999Z'];
  const near = kind === 'int64' || kind === 'integer' ? [BigInt(first) + 1n, BigInt(first) - 1n] : [];
  const long = kind === 'text' ? ['x', 'y'].map((each) => each.repeat(attribute.minLength || 1)) : [];
  const valid = [...values, ...near, ...long].map((value) => attributeValue(name, value));
  return valid.find(({ fault, value }) => fault === undefined && value !== first)?.value ?? first;
}
