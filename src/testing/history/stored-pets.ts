/** Finds the pets of a history, and the calls that may have stored them. */

import { isSamePet, type NewPet, PET_ATTRIBUTES, type Pet } from '../../domain/pet.ts';
import { labelOf } from '../fixtures/pets.ts';
import { type CreateEvent, described, type PetEvent } from './events.ts';

/** All calls that create one pet: the attempts with one idempotency key, or a single call without a key. */
interface Creation {
  readonly attempts: CreateEvent[];
  /** The stored pet, if an attempt returned it. */
  stored: { readonly pet: Pet; readonly by: CreateEvent } | undefined;
}

/** A pet of the history, and the calls that may have stored it. */
export interface StoredPet {
  readonly pet: Pet;
  readonly attempts: readonly CreateEvent[];
}

/** The error for a contradiction. The message describes it in words. */
export class Contradiction extends Error {}

/**
 * Returns, by id, every pet that a call returned, with the calls that may have stored it. Throws a {@link Contradiction} when a
 * returned pet cannot be from any recorded create, or when calls contradict each other about a pet or its id.
 */
export function storedPets(events: readonly PetEvent[]): Map<bigint, StoredPet> {
  const creations = creationsOf(events.filter((event) => event.kind === 'create'));
  const stored = new Map<bigint, StoredPet>();
  for (const { attempts, stored: own } of creations) {
    if (own === undefined) continue;
    const { pet, by } = own;
    const other = stored.get(pet.id)?.attempts[0];
    if (other !== undefined)
      throw new Contradiction(`${described(by)} got id ${pet.id}, as ${described(other)} did`);
    stored.set(pet.id, { pet, attempts: attempts.filter((attempt) => isSamePet(attempt.pet, pet)) });
  }
  const unknownCreatesOf = unknownCreates(creations);
  for (const event of events) {
    for (const pet of petsOf(event)) {
      const known = stored.get(pet.id);
      if (known === undefined) stored.set(pet.id, { pet, attempts: unknownCreatesOf(pet, event) });
      else if (!isSamePet(known.pet, pet))
        throw new Contradiction(
          `${described(event)} saw pet ${pet.id} as '${labelOf(pet)}', which was '${labelOf(known.pet)}'`,
        );
    }
  }
  return stored;
}

function creationsOf(creates: readonly CreateEvent[]): Creation[] {
  const creations: Creation[] = [];
  const byKey = new Map<string, Creation>();
  for (const event of creates) {
    const known = event.key === undefined ? undefined : byKey.get(event.key);
    const creation = known ?? { attempts: [], stored: undefined };
    if (known === undefined) creations.push(creation);
    if (event.key !== undefined) byKey.set(event.key, creation);
    creation.attempts.push(event);
    if (typeof event.result === 'string') continue;
    if (!isSamePet(event.result, event.pet))
      throw new Contradiction(`${described(event)} returned another pet, '${labelOf(event.result)}'`);
    const { pet, by } = creation.stored ?? { pet: event.result, by: event };
    if (pet.id !== event.result.id)
      throw new Contradiction(
        `${described(event)} returned id ${event.result.id}, and ${described(by)} id ${pet.id}`,
      );
    creation.stored = { pet, by };
  }
  for (const { attempts } of creations) {
    const refused = attempts.find(({ result }) => result === 'conflict');
    if (refused !== undefined && attempts.every(({ pet }) => isSamePet(pet, refused.pet)))
      throw new Contradiction(`${described(refused)} was refused, but its key was used for no other pet`);
  }
  return creations;
}

/**
 * Returns a function that finds the calls that may have stored a pet although none of them returned it. Each creation is used
 * for one pet at most. If several equal creations are possible, the choice does not matter, and the function takes the earliest.
 */
function unknownCreates(
  creations: readonly Creation[],
): (pet: Pet, event: PetEvent) => readonly CreateEvent[] {
  const open = new Map<string, Creation[]>();
  const all = new Map<string, CreateEvent>();
  for (const creation of creations) {
    for (const attempt of creation.attempts) all.set(textOf(attempt.pet), attempt);
    const unknown = creation.attempts.find(({ result }) => result === 'unknown');
    if (creation.stored !== undefined || unknown === undefined) continue;
    const text = textOf(unknown.pet);
    open.set(text, [...(open.get(text) ?? []), creation]);
  }
  return (pet, event) => {
    const creation = open.get(textOf(pet))?.shift();
    if (creation !== undefined) return creation.attempts.filter((attempt) => isSamePet(attempt.pet, pet));
    const closed = all.get(textOf(pet));
    const reason = closed === undefined ? 'which nobody created' : `and ${closedBy(closed)}`;
    throw new Contradiction(`${described(event)} saw pet ${pet.id} '${labelOf(pet)}', ${reason}`);
  };
}

function closedBy(create: CreateEvent): string {
  const { result } = create;
  if (result === 'refused' || result === 'conflict') return `${described(create)} was refused`;
  return `${described(create)} stored it ${typeof result === 'string' ? 'once' : `as pet ${result.id}`}`;
}

function textOf(pet: NewPet): string {
  return PET_ATTRIBUTES.map((name) => pet[name]).join('\0');
}

function petsOf(event: PetEvent): readonly Pet[] {
  if (event.kind === 'list') return event.result.pets;
  return event.kind === 'get' && event.result !== undefined ? [event.result] : [];
}
