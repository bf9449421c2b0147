/** The pets in the examples of the OpenAPI document. An attribute that has no value here has that of the table. */

import type { Attribute } from '../src/domain/attribute.ts';
import { ATTRIBUTES, isAlwaysStored, type NewPet, PET_ATTRIBUTES, type Pet } from '../src/domain/pet.ts';
import { changePet, TRANSITIONS } from '../src/domain/pet-change.ts';
import type { Part } from './schemas.ts';

type Values = Readonly<Partial<Record<keyof NewPet, unknown>>>;

/**
 * The `categoryId` is the smallest positive integer that a double cannot represent. A client that rounds large integers
 * shows another value in the example.
 */
const MINKA_VALUES: Values = { name: 'Минька 🐈', categoryId: 2n ** 53n + 1n, status: 'pending' };

/** A pet with the required attributes, and one with all attributes. */
export const NEW_REX: Part = exampleOf({}, ({ isRequired }) => isRequired);
export const NEW_MINKA: Part = exampleOf(MINKA_VALUES, () => true);

export const REX: Part = {
  id: 1,
  ...exampleOf({}, (attribute) => attribute.isRequired || attribute.default !== undefined),
};
export const MINKA: Part = { id: 2, ...NEW_MINKA };

/** A change of the first pet: its last attribute gets the value of the other pet. */
export const CHANGE: Part = Object.fromEntries(
  PET_ATTRIBUTES.slice(-1).map((name) => [name, NEW_MINKA[name]]),
);

const NO_OBJECT = 'the body must be a JSON object';

/** What is wrong with a pet that lacks an attribute, and with a change that removes one. */
export const LACKING: string = message(
  PET_ATTRIBUTES.findLast((name) => ATTRIBUTES[name].isRequired),
  'is required',
);
export const NOT_REMOVED: string = message(PET_ATTRIBUTES.find(isAlwaysStored), 'cannot be removed');

function message(name: string | undefined, fault: string): string {
  return name === undefined ? NO_OBJECT : `${name} ${fault}`;
}

/** A value of an attribute, one that cannot follow it, and what is wrong with the change, if a rule forbids one. */
export const FORBIDDEN_TRANSITION: Readonly<Record<'name' | 'from' | 'to' | 'message', string>> | undefined =
  Object.entries(TRANSITIONS).flatMap(([name, next]) =>
    Object.entries(next).flatMap(([from, allowed]) =>
      Object.keys(next)
        .filter((to) => to !== from && !allowed.includes(to))
        .map((to) => ({ name, from, to, message: transitionFault(name, from, to) })),
    ),
  )[0];

function transitionFault(name: string, from: string, to: string): string {
  try {
    return `${changePet({ id: 1n, [name]: from } as unknown as Pet, { [name]: to })}`;
  } catch (error) {
    return (error as Error).message;
  }
}

function exampleOf(values: Values, hasAttribute: (attribute: Attribute) => boolean): Part {
  const names = PET_ATTRIBUTES.filter((name) => hasAttribute(ATTRIBUTES[name]));
  return Object.fromEntries(names.map((name) => [name, values[name] ?? ATTRIBUTES[name].example]));
}
