/** Writes and reads pets as JSON (RFC 8259) with exact int64 values. `JSON.stringify` throws for a `bigint`. */

import { INTEGER_KINDS } from './attribute.ts';
import { invalidRequest } from './errors.ts';
import { INT64_MAX, isInt64 } from './int64.ts';
import { type Members, parseJson, readMembers } from './json.ts';
import {
  ATTRIBUTES,
  type ImportedPet,
  isAlwaysStored,
  type NewPet,
  PET_ATTRIBUTES,
  type Pet,
  petWithId,
} from './pet.ts';
import type { PetChange } from './pet-change.ts';

/**
 * Takes the place of a JSON value that should be an int64 but is not. The error message is then about the valid range, and not
 * about JavaScript types.
 */
const NOT_AN_INT64 = INT64_MAX + 1n;

const ATTRIBUTE_MEMBERS = PET_ATTRIBUTES.map((name) => {
  const { kind } = ATTRIBUTES[name];
  const isInteger = INTEGER_KINDS.includes(kind);
  const type = kind === 'boolean' ? 'boolean' : 'string';
  return { name, start: `,"${name}":`, isInteger, isNumber: kind === 'integer', type };
});

/**
 * Formats a pet as JSON.
 *
 * @example
 * ```ts
 * import { petJson } from 'animal-store';
 *
 * const json = petJson({ id: 1n, name: 'Rex', categoryId: 9007199254740993n, status: 'sold' });
 * console.log(json); // {"id":1,"name":"Rex","categoryId":9007199254740993,"status":"sold"}
 * ```
 */
export function petJson(pet: Pet): string {
  return `{"id":${pet.id}${attributesJson(pet)}}`;
}

export function newPetJson(pet: NewPet): string {
  return `{${attributesJson(pet).slice(1)}}`;
}

/** Formats a change as a JSON merge patch (RFC 7396). Equal changes have equal texts if `petChange` has validated them. */
export function petChangeJson(change: PetChange): string {
  return `{${attributesJson(change).slice(1)}}`;
}

function attributesJson(pet: PetChange): string {
  let json = '';
  for (const { name, start, isInteger } of ATTRIBUTE_MEMBERS) {
    const value = pet[name];
    if (value !== undefined) json += start + (isInteger ? value : JSON.stringify(value));
  }
  return json;
}

/** Formats pets as a JSON array. */
export function petsJson(pets: readonly Pet[]): string {
  return `[${pets.map(petJson).join(',')}]`;
}

/**
 * Reads a pet from JSON, such as the output of {@link petJson} or a response of the API. Every int64 is exact. Unknown members are
 * ignored. Throws `invalid_request` when the text is not JSON, or is not a valid pet with an id.
 *
 * @example
 * ```ts
 * import { parsePet } from 'animal-store';
 *
 * const pet = parsePet('{"id":9007199254740993,"name":"Rex","categoryId":7,"status":"sold"}');
 * console.log(pet.id); // 9007199254740993n
 * ```
 */
export function parsePet(text: string): Pet {
  return petOf(membersOf(parseJson(text)));
}

/**
 * Reads pets from a JSON array, such as the output of {@link petsJson} or a response of the API. Throws `invalid_request` as {@link
 * parsePet} does. The message about an invalid pet contains its index, and its id if this is an int64.
 */
export function parsePets(text: string): Pet[] {
  return petsOf(text, petOf);
}

/**
 * Reads stored pets, even those that break a rule: another program can have changed them. `petFault` names the rule. Throws
 * `invalid_request` when a value has the wrong type.
 */
export function parseStoredPets(text: string): Pet[] {
  return petsOf(text, storedPetOf);
}

/** Reads one stored pet, as {@link parseStoredPets} does, from a value that {@link parseJson} has returned. */
export function storedPetFrom(value: unknown): Pet {
  return Object.freeze(storedPetOf(membersOf(value)));
}

/** Reads the members of a pet without a check of its rules. Throws `invalid_request` when the text is not a JSON object. */
export function parsePetMembers(text: string): ImportedPet {
  return importedPet(membersOf(parseJson(text)));
}

const MEMBERS = ['id', ...PET_ATTRIBUTES] as const;
type PetMembers = Members<(typeof MEMBERS)[number]>;

const membersOf = (value: unknown) => readMembers(value, MEMBERS);

function importedPet(members: PetMembers): ImportedPet {
  if (members === undefined) throw invalidRequest('expected a JSON object');
  const pet = { ...members, id: integer(members.id) };
  for (const { name, isInteger } of ATTRIBUTE_MEMBERS) {
    if (isInteger && pet[name] !== undefined) pet[name] = integer(pet[name]);
  }
  return pet as ImportedPet;
}

function petOf(members: PetMembers): Pet {
  const { id, ...pet } = importedPet(members);
  if (id === undefined) throw invalidRequest('id is required');
  return petWithId({ ...pet, id });
}

function storedPetOf(members: PetMembers): Pet {
  const pet: Partial<Record<keyof Pet, unknown>> = { ...importedPet(members) };
  const stored = ATTRIBUTE_MEMBERS.filter(({ name }) => pet[name] !== undefined || isAlwaysStored(name));
  for (const { name, isInteger, isNumber, type } of stored) {
    const value = pet[name];
    if (isInteger ? !isInt64(value) : typeof value !== type) return petOf(members);
    // Integers from JSON are read as `bigint`, but this attribute of a pet is a `number`.
    if (isNumber) pet[name] = Number(value);
  }
  return isInt64(pet.id) ? (pet as Pet) : petOf(members);
}

function petsOf(text: string, read: (members: PetMembers) => Pet): Pet[] {
  const items = parseJson(text);
  if (!Array.isArray(items)) throw invalidRequest('expected a JSON array');
  return items.map((item, index) => {
    const members = membersOf(item);
    try {
      return read(members);
    } catch (error) {
      const id = members?.id;
      const name = typeof id === 'bigint' ? `[${index}], pet ${id}` : `[${index}]`;
      throw invalidRequest(`${name}: ${(error as Error).message}`);
    }
  });
}

function integer(value: unknown): unknown {
  return value === undefined || typeof value === 'bigint' ? value : NOT_AN_INT64;
}
