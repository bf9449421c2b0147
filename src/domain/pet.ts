/** A pet and its attributes. {@link ATTRIBUTES} contains the complete description of each attribute. */

import { type Attribute, type AttributeOf, type Rule, ruleOf } from './attribute.ts';
import { invalidRequest } from './errors.ts';
import { INT64_MAX, INT64_MIN, int64Fault, toInt64 } from './int64.ts';

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

/** The input to create a pet. */
export interface NewPetInput {
  /** The name, as in {@link NewPet}. */
  readonly name: string;
  /** The id of the category: any int64 as a `bigint` such as `7n`, or a `number` that is a safe integer. */
  readonly categoryId: bigint | number;
  /** The status. Default: {@link DEFAULT_STATUS}. */
  readonly status?: PetStatus | undefined;
}

/** The attributes that {@link ATTRIBUTES} marks with `filter`. */
export type PetFilterName = 'status';

/** A pet to import. Either all pets of an import have an id, which they keep, or none of them has one. */
export type ImportedPet = NewPetInput & { readonly id?: bigint | number | undefined };

/** The attributes, in their order in JSON. An adapter maps their kinds to the types of its technology. */
export const ATTRIBUTES: Readonly<Record<keyof NewPet, Attribute>> = {
  name: {
    kind: 'text',
    minLength: NAME_MIN_LENGTH,
    maxLength: NAME_MAX_LENGTH,
    isRequired: true,
    description: 'The name of the pet, which is stored exactly as sent.',
    example: 'Rex',
  },
  categoryId: {
    kind: 'int64',
    min: INT64_MIN,
    max: INT64_MAX,
    isRequired: true,
    description: 'The category that the pet belongs to.',
    example: 7n,
  },
  status: {
    kind: 'one of',
    values: PET_STATUSES,
    isRequired: false,
    default: DEFAULT_STATUS,
    filter: true,
    description: 'The availability of the pet.',
    example: DEFAULT_STATUS,
  },
} satisfies {
  readonly [Name in keyof NewPet]-?: AttributeOf<NewPet[Name], NewPetInput[Name]> &
    (Name extends PetFilterName ? { readonly filter: true } : { readonly filter?: never });
};

/** The names of the {@link ATTRIBUTES}, in their order. */
export const PET_ATTRIBUTES: readonly (keyof NewPet)[] = Object.keys(ATTRIBUTES) as (keyof NewPet)[];

const REQUIRED = PET_ATTRIBUTES.filter((name) => ATTRIBUTES[name].isRequired);

type Values = Partial<Record<keyof NewPet, unknown>>;

const RULES = Object.fromEntries(
  PET_ATTRIBUTES.map((name) => [name, ruleOf(name, ATTRIBUTES[name])]),
) as Readonly<Record<keyof NewPet, Rule>>;

/** Validates the input, and ignores unknown properties. The message of `invalid_request` names every broken rule. */
export function newPet(input: NewPetInput): NewPet {
  if (typeof input !== 'object' || input === null) {
    throw invalidRequest(`expected a pet, an object with ${REQUIRED.join(', ') || 'its attributes'}`);
  }
  const pet: Values = {};
  const faults: string[] = [];
  for (const name of PET_ATTRIBUTES) {
    const { value, fault } = RULES[name](input[name]);
    if (fault !== undefined) faults.push(fault);
    if (value !== undefined) pet[name] = value;
  }
  if (faults.length > 0) throw invalidRequest(faults.join('; '));
  return pet as NewPet;
}

/** Whether {@link newPet} accepts the input. */
export function isAccepted(input: NewPetInput): boolean {
  try {
    newPet(input);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns an example with the required attributes. Adds optional attributes only if a rule about several attributes requires them.
 */
export function examplePet(): NewPetInput {
  const pet: Values = Object.fromEntries(REQUIRED.map((name) => [name, ATTRIBUTES[name].example]));
  for (const name of PET_ATTRIBUTES) {
    if (!isAccepted(pet as NewPetInput)) pet[name] = ATTRIBUTES[name].example;
  }
  return pet as NewPetInput;
}

/** Like {@link newPet}, for a pet that has an id. */
export function petWithId(input: NewPetInput & { readonly id: bigint | number }): Pet {
  const id = toInt64(input?.id);
  if (id === undefined || id < 1n) throw invalidRequest(int64Fault('id', input?.id, 1n));
  return { id, ...newPet(input) };
}

/** Returns a frozen pet with this id and these attributes. */
export function storedPet(id: bigint, attributes: NewPet): Pet {
  const pet: Values & { id: bigint } = { id };
  for (const name of PET_ATTRIBUTES) {
    if (attributes[name] !== undefined) pet[name] = attributes[name];
  }
  return Object.freeze(pet as Pet);
}

/**
 * Returns the rules that a stored pet breaks, or `undefined` when the pet is valid. Another program can have stored a pet that
 * breaks a rule.
 */
export function petFault(pet: Pet): string | undefined {
  try {
    return isSamePet(petWithId(pet), pet) ? undefined : 'a value is not written as this store does';
  } catch (error) {
    return (error as Error).message;
  }
}

/** Whether two pets are equal in everything but their ids. */
export function isSamePet(stored: NewPet, pet: NewPet): boolean {
  return PET_ATTRIBUTES.every((name) => stored[name] === pet[name]);
}

/** Whether a value is one of {@link PET_STATUSES}. */
export function isPetStatus(value: unknown): value is PetStatus {
  return PET_STATUSES.some((status) => status === value);
}

/** Returns the value to store for an attribute, or the rule that the given value breaks. */
export function attributeValue(name: keyof NewPet, given: unknown): ReturnType<Rule> {
  return RULES[name](given);
}

/** Whether every stored pet has a value for the attribute. */
export function isAlwaysStored(name: keyof NewPet): boolean {
  return ATTRIBUTES[name].isRequired || ATTRIBUTES[name].default !== undefined;
}
