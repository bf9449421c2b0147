/** Animals and the rules that every one of them keeps. */

import { AnimalStoreError } from './errors.ts';
import { INT64_MAX, INT64_MIN, isInt64 } from './int64.ts';

/** The availability states (specification, section 2). */
export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
/** One of {@link PET_STATUSES}. */
export type PetStatus = (typeof PET_STATUSES)[number];

/** The state of an animal that was added without one. */
export const DEFAULT_STATUS: PetStatus = 'available';

/** The length of the shortest name, in Unicode code points. */
export const NAME_MIN_LENGTH = 1;
/** The length of the longest name, in Unicode code points. */
export const NAME_MAX_LENGTH = 255;

/** An animal that keeps every rule and has no identifier yet. */
export interface NewPet {
  /** 1 to 255 Unicode code points, well-formed, without U+0000; kept exactly as given. */
  readonly name: string;
  /** Any int64. */
  readonly categoryId: bigint;
  readonly status: PetStatus;
}

/** An animal in the store. */
export interface Pet extends NewPet {
  /** int64, given by the store in ascending order of creation. */
  readonly id: bigint;
}

/** What a caller gives to add an animal: a {@link NewPet} whose status may be left out. */
export type NewPetInput = Omit<NewPet, 'status'> & { readonly status?: PetStatus | undefined };

/**
 * Makes a {@link NewPet}, or throws `invalid_request` with every broken rule in its message.
 * Members that an animal does not have are left behind.
 */
export function newPet(input: NewPetInput): NewPet {
  const { name, categoryId, status = DEFAULT_STATUS } = input;
  const faults = [nameFault(name), categoryIdFault(categoryId), statusFault(status)].filter(
    (fault) => fault !== undefined,
  );
  if (faults.length > 0) throw new AnimalStoreError('invalid_request', faults.join('; '));
  return { name, categoryId, status };
}

/** Makes a {@link Pet} of an animal that brings its id along, or throws `invalid_request` as {@link newPet} does. */
export function petWithId(input: NewPetInput & Pick<Pet, 'id'>): Pet {
  const { id } = input;
  if (!isInt64(id) || id < 1n) {
    throw new AnimalStoreError('invalid_request', `id must be an integer from 1 to ${INT64_MAX}`);
  }
  const { name, categoryId, status } = newPet(input);
  return { id, name, categoryId, status };
}

/** Whether a value is one of {@link PET_STATUSES}. */
export function isPetStatus(value: unknown): value is PetStatus {
  return PET_STATUSES.some((status) => status === value);
}

/** The rule that a name breaks, in words; `undefined` for a good name. */
export function nameFault(name: unknown): string | undefined {
  if (name === undefined) return 'name is required';
  if (typeof name !== 'string') return 'name must be a string';
  if (!name.isWellFormed()) return 'name must be well-formed Unicode, without lone surrogates';
  if (name.includes('\0')) return 'name must not contain U+0000';
  if (!hasNameLength(name)) {
    return `name must have ${NAME_MIN_LENGTH} to ${NAME_MAX_LENGTH} characters`;
  }
  return undefined;
}

/** A code point is one or two UTF-16 code units, so most names need no counting. */
function hasNameLength(name: string): boolean {
  if (name.length < NAME_MIN_LENGTH || name.length > 2 * NAME_MAX_LENGTH) return false;
  return name.length <= NAME_MAX_LENGTH || [...name].length <= NAME_MAX_LENGTH;
}

function categoryIdFault(categoryId: unknown): string | undefined {
  if (categoryId === undefined) return 'categoryId is required';
  return isInt64(categoryId) ? undefined : `categoryId must be an integer from ${INT64_MIN} to ${INT64_MAX}`;
}

function statusFault(status: unknown): string | undefined {
  return isPetStatus(status) ? undefined : `status must be one of ${PET_STATUSES.join(', ')}`;
}
