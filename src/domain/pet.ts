import { invalidRequest } from './errors.ts';
import { int64Fault, toInt64 } from './int64.ts';

/** The values of the status of a pet. */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
/** One of {@link PET_STATUSES}. */
export type PetStatus = (typeof PET_STATUSES)[number];

/** The status of a pet that is created without a status. */
export const DEFAULT_STATUS: PetStatus = 'available';

/** The minimum length of a name, in Unicode code points. */
export const NAME_MIN_LENGTH = 1;
/** The maximum length of a name, in Unicode code points. */
export const NAME_MAX_LENGTH = 255;

/** A valid pet that has no id yet. */
export interface NewPet {
  /** The name: 1 to 255 Unicode code points, well-formed, without U+0000. A name is stored unchanged. */
  readonly name: string;
  /** The id of the category: any int64. */
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** A stored pet. */
export interface Pet extends NewPet {
  /** The id: a positive int64. The store assigns ids in ascending order of creation. */
  readonly id: bigint;
}

/** What a pet has besides its id. */
export const PET_ATTRIBUTES: readonly (keyof NewPet)[] = ['name', 'categoryId', 'status'];

/** The input to create a pet. */
export interface NewPetInput {
  /** As in {@link NewPet}. */
  readonly name: string;
  /** The id of the category: any int64 as a `bigint` such as `7n`, or a `number` that is a safe integer. */
  readonly categoryId: bigint | number;
  /** The status. Default: {@link DEFAULT_STATUS}. */
  readonly status?: PetStatus | undefined;
}

/** A pet to import. Either all pets of an import have an id, which they keep, or none of them has one. */
export type ImportedPet = NewPetInput & { readonly id?: bigint | number | undefined };

/** Validates the input, and ignores its other properties. The message of `invalid_request` names every broken rule. */
export function newPet(input: NewPetInput): NewPet {
  if (typeof input !== 'object' || input === null) {
    throw invalidRequest("expected a pet such as { name: 'Rex', categoryId: 7n }");
  }
  const { name, categoryId: given, status = DEFAULT_STATUS } = input;
  const categoryId = toInt64(given);
  const faults = [
    nameFault(name),
    categoryId === undefined ? categoryIdFault(given) : undefined,
    statusFault(status),
  ].filter((fault) => fault !== undefined);
  if (categoryId === undefined || faults.length > 0) throw invalidRequest(faults.join('; '));
  return { name, categoryId, status };
}

/** Like {@link newPet}, for a pet that has an id. */
export function petWithId(input: NewPetInput & { readonly id: bigint | number }): Pet {
  const id = toInt64(input?.id);
  if (id === undefined || id < 1n) throw invalidRequest(int64Fault('id', input?.id, 1n));
  return { id, ...newPet(input) };
}

/** Returns a pet with the attributes of a valid one. */
export function storedPet(id: bigint, { name, categoryId, status }: NewPet): Pet {
  return Object.freeze({ id, name, categoryId, status });
}

/** Returns the rules that a stored pet breaks, or `undefined` when it is valid. Another program can have changed it. */
export function petFault(pet: Pet): string | undefined {
  try {
    petWithId(pet);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Whether a value is one of {@link PET_STATUSES}. */
export function isPetStatus(value: unknown): value is PetStatus {
  return PET_STATUSES.some((status) => status === value);
}

/** Returns the rule that the name breaks, or `undefined` when the name is valid. */
export function nameFault(name: unknown): string | undefined {
  if (name === undefined) return 'name is required';
  if (typeof name !== 'string') return 'name must be a string';
  if (!name.isWellFormed()) return 'name must be well-formed Unicode, without lone surrogates';
  if (name.includes('\0')) return 'name must not contain U+0000';
  // A code point has one or two code units. A name can be as long as a request body.
  const length = name.length > 2 * NAME_MAX_LENGTH ? Number.POSITIVE_INFINITY : [...name].length;
  if (length < NAME_MIN_LENGTH || length > NAME_MAX_LENGTH) {
    return `name must have ${NAME_MIN_LENGTH} to ${NAME_MAX_LENGTH} characters`;
  }
  return undefined;
}

function categoryIdFault(categoryId: unknown): string {
  return categoryId === undefined ? 'categoryId is required' : int64Fault('categoryId', categoryId);
}

export function statusFault(status: unknown): string | undefined {
  return isPetStatus(status) ? undefined : `status must be one of ${PET_STATUSES.join(', ')}`;
}

/** Whether two pets are equal in everything but their ids. */
export function isSamePet(stored: NewPet, pet: NewPet): boolean {
  return PET_ATTRIBUTES.every((name) => stored[name] === pet[name]);
}
