/** The pets in the examples of the OpenAPI document. An attribute that has no value here has that of the table. */

import type { Attribute } from '../src/domain/attribute.ts';
import { ATTRIBUTES, type NewPet, PET_ATTRIBUTES } from '../src/domain/pet.ts';
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

function exampleOf(values: Values, hasAttribute: (attribute: Attribute) => boolean): Part {
  const names = PET_ATTRIBUTES.filter((name) => hasAttribute(ATTRIBUTES[name]));
  return Object.fromEntries(names.map((name) => [name, values[name] ?? ATTRIBUTES[name].example]));
}
