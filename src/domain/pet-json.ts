/** Writes and reads pets as JSON (RFC 8259) with exact int64 values. `JSON.stringify` throws for a `bigint`. */

import { invalidRequest } from './errors.ts';
import { INT64_MAX, isInt64 } from './int64.ts';
import { itemTexts, memberReader } from './json.ts';
import { type ImportedPet, type NewPet, PET_ATTRIBUTES, type Pet, petWithId } from './pet.ts';

/** Replaces a value that is not an int64, so that the message is about its range, and not about types of JavaScript. */
const NOT_AN_INT64 = INT64_MAX + 1n;

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
  return `{"id":${pet.id},${attributesJson(pet)}}`;
}

export function newPetJson(pet: NewPet): string {
  return `{${attributesJson(pet)}}`;
}

function attributesJson({ name, categoryId, status }: NewPet): string {
  return `"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":${JSON.stringify(status)}`;
}

/**
 * Formats pets as a JSON array.
 *
 * @example
 * ```ts
 * import { petsJson } from 'animal-store';
 *
 * const json = petsJson([{ id: 1n, name: 'Rex', categoryId: 7n, status: 'sold' }]);
 * console.log(json); // [{"id":1,"name":"Rex","categoryId":7,"status":"sold"}]
 * ```
 */
export function petsJson(pets: readonly Pet[]): string {
  return `[${pets.map(petJson).join(',')}]`;
}

/**
 * Reads a pet from JSON, such as the output of {@link petJson} or a response of the API. Every int64 is exact. Other
 * members are ignored. Throws `invalid_request` when the text is not JSON, or is not a valid pet with an id.
 *
 * @example
 * ```ts
 * import { parsePet } from 'animal-store';
 *
 * const pet = parsePet('{"id":1,"name":"Rex","categoryId":9007199254740993,"status":"sold"}');
 * console.log(pet.categoryId); // 9007199254740993n
 * ```
 */
export function parsePet(text: string): Pet {
  return petOf(validated(() => membersOf(text)));
}

/**
 * Reads pets from a JSON array, such as the output of {@link petsJson} or a response of the API. Throws
 * `invalid_request` as {@link parsePet} does; the message then has the index of the invalid pet, and its id.
 *
 * @example
 * ```ts
 * import { parsePets } from 'animal-store';
 *
 * const pets = parsePets('[{"id":1,"name":"Rex","categoryId":7,"status":"sold"}]');
 * console.log(pets.map(({ id }) => id)); // [ 1n ]
 * ```
 */
export function parsePets(text: string): Pet[] {
  return petsOf(text, petOf);
}

/**
 * Reads stored pets. Another program can have changed them, so that they break a rule, as `petFault` says. Throws
 * `invalid_request` when a value has the wrong type.
 */
export function parseStoredPets(text: string): Pet[] {
  return petsOf(text, storedPetOf);
}

/** Reads one pet as {@link parseStoredPets} does. */
export function parseStoredPet(text: string): Pet {
  return storedPetOf(validated(() => membersOf(text)));
}

/** Applies no rule for pets. Throws `invalid_request` when the text is not a JSON object. */
export function parsePetMembers(text: string): ImportedPet {
  return importedPet(validated(() => membersOf(text)));
}

const membersOf = memberReader(['id', ...PET_ATTRIBUTES]);

function importedPet(members: ReturnType<typeof membersOf>): ImportedPet {
  if (members === undefined) throw invalidRequest('expected a JSON object');
  const { id, name, categoryId, status } = members;
  return { id: integer(id), name, categoryId: integer(categoryId), status } as ImportedPet;
}

function petOf(members: ReturnType<typeof membersOf>): Pet {
  const { id, ...pet } = importedPet(members);
  if (id === undefined) throw invalidRequest('id is required');
  return petWithId({ ...pet, id });
}

function storedPetOf(members: ReturnType<typeof membersOf>): Pet {
  const { id, name, categoryId, status } = importedPet(members);
  const hasTypes =
    isInt64(id) && isInt64(categoryId) && typeof name === 'string' && typeof status === 'string';
  return hasTypes ? { id, name, categoryId, status } : petOf(members);
}

function petsOf(text: string, read: (members: ReturnType<typeof membersOf>) => Pet): Pet[] {
  const items = validated(() => itemTexts(text));
  if (items === undefined) throw invalidRequest('expected a JSON array');
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

function validated<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw invalidRequest(`invalid JSON: ${(cause as Error).message}`, { cause });
  }
}
