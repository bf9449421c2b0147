/** Writes and reads pets as JSON (RFC 8259) with exact int64 values. `JSON.stringify` throws for a `bigint`. */

import { invalidRequest } from './errors.ts';
import { INT64_MAX } from './int64.ts';
import { parseJson } from './json.ts';
import { type ImportedPet, type Pet, petWithId } from './pet.ts';

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
export function petJson({ id, name, categoryId, status }: Pet): string {
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;
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
  return petOf(parse(text));
}

/**
 * Reads pets from a JSON array, such as the output of {@link petsJson} or a response of the API. Throws
 * `invalid_request` as {@link parsePet} does; the message then has the index of the invalid pet.
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
  const values = parse(text);
  if (!Array.isArray(values)) throw invalidRequest('expected a JSON array');
  return values.map((value, index) => {
    try {
      return petOf(value);
    } catch (error) {
      throw invalidRequest(`[${index}]: ${(error as Error).message}`);
    }
  });
}

/** Applies no rule for pets. Throws `invalid_request` when the text is not a JSON object. */
export function parsePetMembers(text: string): ImportedPet {
  return members(parse(text));
}

function members(value: unknown): ImportedPet {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRequest('expected a JSON object');
  }
  const { id, name, categoryId, status } = value as Readonly<Record<string, unknown>>;
  return { id: integer(id), name, categoryId: integer(categoryId), status } as ImportedPet;
}

function petOf(value: unknown): Pet {
  const { id, ...pet } = members(value);
  if (id === undefined) throw invalidRequest('id is required');
  return petWithId({ ...pet, id });
}

function integer(value: unknown): unknown {
  if (value === undefined || typeof value === 'bigint' || Number.isSafeInteger(value)) return value;
  return NOT_AN_INT64;
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw invalidRequest(`invalid JSON: ${(cause as Error).message}`, { cause });
  }
}
