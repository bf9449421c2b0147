/** Filters of lists. A pet matches a filter when it has the same value for each attribute in the filter. */

import {
  ATTRIBUTES,
  attributeValue,
  type NewPet,
  type NewPetInput,
  PET_ATTRIBUTES,
  type PetFilterName,
} from './pet.ts';

/** Only pets with these values match. By default, all pets match. */
export type PetFilter = { readonly [Name in PetFilterName]?: NewPet[Name] | undefined };

/** A filter as a caller gives it. */
export type PetFilterInput = { readonly [Name in PetFilterName]?: NewPetInput[Name] | undefined };

/** The names of the attributes with a filter, in the order of the attributes. */
export const PET_FILTERS: readonly PetFilterName[] = PET_ATTRIBUTES.filter(
  (name): name is PetFilterName => !!ATTRIBUTES[name].filter,
);

/** Returns the filter of a query, and the rules that its values break. Members that are not filters are ignored. */
export function readFilter(query: PetFilterInput): { filter: PetFilter; faults: readonly string[] } {
  const filter: Partial<Record<keyof NewPet, unknown>> = {};
  const faults: string[] = [];
  for (const name of PET_FILTERS) {
    if (query[name] === undefined) continue;
    const { value, fault } = attributeValue(name, query[name]);
    if (fault !== undefined) faults.push(fault);
    filter[name as keyof NewPet] = value;
  }
  return { filter: filter as PetFilter, faults };
}

export function matches(pet: NewPet, filter: PetFilter): boolean {
  return PET_FILTERS.every((name) => filter[name] === undefined || filter[name] === pet[name]);
}
