/** Changes pets and lists changes for a store. The use cases run in this process or on another server. */

import { AnimalStoreError, asAnimalStoreError } from '../domain/errors.ts';
import type { Pet } from '../domain/pet.ts';
import type { PetChange } from '../domain/pet-change.ts';
import type { ChangePet } from './change-pet.ts';
import { entityTagOf, type IfMatch, type TaggedPet } from './entity-tag.ts';
import type { ChangesList, ListChanges, PetState } from './list-changes.ts';
import type { CallOptions } from './ports/pet-repository.ts';
import type { StoreStorage } from './ports/storage.ts';
import type { RemovePet } from './remove-pet.ts';
import type { ChangeOptions } from './store-options.ts';
import { abortedWrite, untilAborted } from './until-aborted.ts';
import { retryLostRace } from './versioned-writes.ts';

/** The newest state of a pet with its entity tag, or the id of a removed pet. */
export type Change =
  | { readonly cursor: string; readonly pet: Pet; readonly etag: string; readonly removed?: undefined }
  | Extract<PetState, { readonly removed: bigint }>;

/** The use cases that change pets and list changes, in this process or on another server. */
export interface ChangeUseCases {
  readonly changePet: Pick<ChangePet, 'execute'>;
  readonly removePet: Pick<RemovePet, 'execute'>;
  readonly listChanges: Pick<ListChanges, 'execute'>;
  /** Resolves with a pet and its entity tag. Rejects with `not_found` when no pet has this id. */
  readonly findTagged: (id: bigint, options?: CallOptions) => Promise<TaggedPet>;
}

/** The storage of a store on another server. That server also runs the use cases that change pets. */
export interface RemoteStorage extends StoreStorage {
  readonly changeUseCases: ChangeUseCases;
}

/**
 * Returns a change for the present pet. Without `ifMatch`, the store calls the function again when another writer was faster. If
 * it is unknown whether the pet was changed, the error of `changePet` does not contain the idempotency key: a retry with this key
 * would reject with `idempotency_conflict` if the function returned a different change.
 */
export type ChangeFunction = (pet: Pet) => PetChange | Promise<PetChange>;

/** The calls of a store with which {@link changeByFunction} reads and changes a pet. */
interface Calls {
  readonly find: () => Promise<TaggedPet>;
  readonly change: (input: PetChange, options: ChangeOptions) => Promise<TaggedPet>;
}

/**
 * Changes a pet by a function. Without `ifMatch`, calls it again when another writer was faster. `signal` ends only the wait for
 * the function and the pauses between attempts.
 */
export async function changeByFunction(
  calls: Calls,
  change: ChangeFunction,
  options: ChangeOptions,
  signal: AbortSignal,
): Promise<TaggedPet> {
  const { ifMatch, idempotencyKey, timeout, signal: given } = options;
  let lost: AnimalStoreError | undefined;
  try {
    return await retryLostRace(async () => {
      const { pet, etag } = await calls.find();
      const input = await untilAborted(Promise.resolve(change(pet)), signal);
      try {
        return await calls.change(input, {
          timeout,
          signal: given,
          ifMatch: ifMatch ?? etag,
          idempotencyKey: lost?.idempotencyKey ?? idempotencyKey,
        });
      } catch (thrown) {
        const error = asAnimalStoreError(thrown);
        const isUnknown = error?.idempotencyKey !== undefined;
        // If the caller's own key conflicts, an earlier call with this key may have made a change.
        if (isUnknown || error?.code === 'idempotency_conflict') lost ??= error;
        const { code } = (isUnknown ? asAnimalStoreError(error.cause) : error) ?? {};
        if (ifMatch !== undefined || code !== 'precondition_failed') throw thrown;
        // A request that got no response may still reach the server. The next request has the same idempotency key, so that the
        // server makes only one of the two changes.
        return undefined;
      }
    }, signal);
  } catch (thrown) {
    if (lost === undefined) throw thrown;
    if (thrown === lost && signal.aborted) throw abortedWrite('change', signal);
    const fault = 'an earlier request may have changed the pet: read it, then decide';
    const cause = thrown === lost && lost.idempotencyKey ? lost.cause : thrown;
    throw new AnimalStoreError(lost.code, fault, { cause });
  }
}

export async function withEntityTags({ changes, ...rest }: ChangesList): Promise<ChangesList<Change>> {
  const tagged = changes.map(async (change) =>
    change.pet === undefined ? change : { ...change, etag: change.etag ?? (await entityTagOf(change.pet)) },
  );
  return { ...rest, changes: await Promise.all(tagged) };
}

export function tagsOf(ifMatch: ChangeOptions['ifMatch'] = '*'): IfMatch {
  return typeof ifMatch === 'string' && ifMatch !== '*' ? [ifMatch] : (ifMatch as IfMatch);
}
