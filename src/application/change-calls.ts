/** The calls of a store that change and follow pets, over the use cases of a storage or of another server. */

import { asAnimalStoreError, invalidRequest } from '../domain/errors.ts';
import { int64Fault, toInt64 } from '../domain/int64.ts';
import type { Pet } from '../domain/pet.ts';
import type { PetChange } from '../domain/pet-change.ts';
import type { ChangePet } from './change-pet.ts';
import { THIS_PROGRAM } from './create-pet.ts';
import { entityTagOf, type IfMatch } from './entity-tag.ts';
import { follow } from './follow.ts';
import type { ChangesList, ChangesPageQuery, PetState } from './list-changes.ts';
import { LIMIT_MAX } from './list-pets.ts';
import type { CallOptions } from './ports/pet-repository.ts';
import type { RemovePet } from './remove-pet.ts';
import { retryLostRace } from './retry-lost-race.ts';
import type { ChangeOptions, FollowChangesOptions } from './store-options.ts';
import type { Caller } from './versioned-writes.ts';

/** A pet, and the entity tag that names its version. */
export interface TaggedPet {
  readonly pet: Pet;
  /** The value of the `ETag` field, with its quotes. */
  readonly etag: string;
}

/** The newest state of a pet with its entity tag, or the id of a removed pet. */
export type Change = PetState & { readonly etag?: string };

/** The use cases that change pets. Those of another server decide there. */
export interface ChangeUseCases {
  readonly changePet: Pick<ChangePet, 'execute'>;
  readonly removePet: Pick<RemovePet, 'execute'>;
  readonly listChanges: { execute(query?: ChangesPageQuery, options?: CallOptions): Promise<ChangesList> };
  /** Resolves with a pet and its entity tag. Rejects with `not_found` when no pet has this id. */
  readonly findTagged: (id: bigint, options?: CallOptions) => Promise<TaggedPet>;
}

/** Returns a change for a pet as it is. It can be called several times. */
export type ChangeFunction = (pet: Pet) => PetChange;

/** Applies a change. Without an entity tag, a function is applied again when somebody else has changed the pet in the meantime. */
export async function changeStoredPet(
  useCases: ChangeUseCases,
  id: bigint,
  change: PetChange | ChangeFunction,
  { ifMatch, idempotencyKey, ...options }: ChangeOptions,
): Promise<TaggedPet> {
  const caller = callerOf(idempotencyKey);
  const apply = async (input: PetChange, tags: IfMatch): Promise<TaggedPet> =>
    tagged((await useCases.changePet.execute(id, input, tags, caller, options)).pet);
  if (typeof change !== 'function') return await apply(change, tagsOf(ifMatch));
  return await retryLostRace(async () => {
    const { pet, etag } = await useCases.findTagged(id, options);
    try {
      return await apply(change(pet), ifMatch === undefined ? [etag] : tagsOf(ifMatch));
    } catch (error) {
      const isLost = asAnimalStoreError(error)?.code === 'precondition_failed' && ifMatch === undefined;
      if (!isLost) throw error;
      return undefined;
    }
  }, options.signal);
}

export async function removeStoredPet(
  { removePet }: ChangeUseCases,
  id: bigint,
  { ifMatch, idempotencyKey, ...options }: ChangeOptions,
): Promise<void> {
  await removePet.execute(id, tagsOf(ifMatch), callerOf(idempotencyKey), options);
}

/** Yields the newest state of each pet in the order of the writes, and then each further one, for ever. */
export function followStoredChanges(
  readPage: (query: ChangesPageQuery, options: CallOptions) => Promise<ChangesList>,
  isClosed: () => boolean,
  options: FollowChangesOptions = {},
): AsyncGenerator<PetState, never, undefined> {
  const read = async (after: string | undefined, call: CallOptions) => {
    const { changes, ...rest } = await readPage({ after, limit: LIMIT_MAX }, call);
    return { items: changes, ...rest };
  };
  return follow(read, isClosed, options);
}

export async function withTag(state: PetState): Promise<Change> {
  return state.pet === undefined ? state : { ...state, etag: await entityTagOf(state.pet) };
}

export async function tagged(pet: Pet): Promise<TaggedPet> {
  return { pet, etag: await entityTagOf(pet) };
}

/** Returns an id as a `bigint`. Throws `invalid_request` for a value that is not an int64. */
export function idOf(id: bigint | number): bigint {
  const exact = toInt64(id);
  if (exact === undefined) throw invalidRequest(int64Fault('id', id));
  return exact;
}

function tagsOf(ifMatch: string | undefined): IfMatch {
  return ifMatch === undefined || ifMatch === '*' ? '*' : [ifMatch];
}

function callerOf(key: string | undefined): Caller | undefined {
  return key === undefined ? undefined : { caller: THIS_PROGRAM, key };
}
