/** Validates changes, and applies them to a pet, like a JSON merge patch (RFC 7396). */

import { AnimalStoreError, invalidRequest } from './errors.ts';
import {
  attributeValue,
  isAlwaysStored,
  isSamePet,
  type NewPet,
  type NewPetInput,
  newPet,
  PET_ATTRIBUTES,
  type Pet,
  type PetStatus,
  storedPet,
} from './pet.ts';

/** New values of attributes. An absent attribute does not change; `null` removes an attribute that a pet can lack. */
export type PetChange = { readonly [Name in keyof NewPetInput]?: NewPetInput[Name] | null | undefined };

/** The statuses that can follow each status of a pet. */
export const STATUS_TRANSITIONS: Readonly<Record<PetStatus, readonly PetStatus[]>> = {
  available: ['pending', 'sold'],
  pending: ['available', 'sold'],
  sold: [],
};

/** For each value of an attribute, the values to which it can change. An attribute without an entry can change to any value. */
export const TRANSITIONS: Readonly<Partial<Record<keyof NewPet, Record<string, readonly string[]>>>> = {
  status: STATUS_TRANSITIONS,
};

/**
 * Validates a change by itself, without the pet that it will be applied to. Ignores properties that are not attributes. The result
 * has the attributes in a fixed order, so equal changes have equal JSON. The message of `invalid_request` names every broken rule.
 */
export function petChange(input: PetChange): PetChange {
  // Without this check, a promise that is not awaited would be a valid change without attributes.
  const isPromise = typeof (input as Partial<Promise<unknown>> | null)?.then === 'function';
  if (typeof input !== 'object' || input === null || Array.isArray(input) || isPromise) {
    throw invalidRequest('expected a change, an object with the new values of attributes');
  }
  const change: Partial<Record<keyof NewPet, unknown>> = {};
  const faults: string[] = [];
  for (const name of PET_ATTRIBUTES) {
    const given = input[name];
    if (given === undefined) continue;
    if (given === null) {
      if (isAlwaysStored(name)) faults.push(`${name} cannot be removed`);
      change[name] = null;
      continue;
    }
    const { value, fault } = attributeValue(name, given);
    if (fault !== undefined) faults.push(fault);
    change[name] = value;
  }
  if (faults.length > 0) throw invalidRequest(faults.join('; '));
  return change as PetChange;
}

/**
 * Applies a change that {@link petChange} has validated, and returns the changed pet, or the same object if nothing changes. The
 * changed pet must follow the rules of a new pet. Throws `invalid_transition` when an attribute cannot change from its present
 * value to the given one.
 */
export function changePet(pet: Pet, change: PetChange): Pet {
  const changed: Partial<Record<keyof NewPet, unknown>> = { ...pet };
  for (const name of PET_ATTRIBUTES) {
    if (change[name] !== undefined) changed[name] = change[name] ?? undefined;
  }
  const attributes = changed as NewPet;
  if (isSamePet(pet, attributes)) return pet;
  for (const [name, transitions] of Object.entries(TRANSITIONS)) {
    const [from, to] = [pet, attributes].map((each) => each[name as keyof NewPet]);
    // An optional attribute can always be removed, and an absent attribute can get any value.
    if (from === to || from === undefined || to === undefined) continue;
    const allowed = transitions[`${from}`] ?? [];
    if (allowed.includes(`${to}`)) continue;
    const rule = allowed.length === 0 ? 'it stays as it is' : `it can become ${allowed.join(' or ')}`;
    throw new AnimalStoreError('invalid_transition', `${name} cannot change from ${from} to ${to}: ${rule}`);
  }
  return storedPet(pet.id, newPet(attributes));
}
