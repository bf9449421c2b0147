/** Changes or removes a pet. A retry with the idempotency key of a successful request writes nothing. */

import { AnimalStoreError } from '../domain/errors.ts';
import { checkedCaller, keyConflict } from '../domain/idempotency-key.ts';
import type { Pet } from '../domain/pet.ts';
import { supported } from './arguments.ts';
import { lifetimeOf } from './create-pet.ts';
import { entityTagOf, type IfMatch } from './entity-tag.ts';
import { noSuchPet } from './get-pet.ts';
import { pause } from './pause.ts';
import type { IdempotentChanges } from './ports/idempotent-changes.ts';
import type { Caller } from './ports/idempotent-creates.ts';
import type { PetChanges } from './ports/pet-changes.ts';
import type { CallOptions } from './ports/pet-repository.ts';

/** The ports of the use cases that change pets. */
export interface ChangePorts {
  readonly changes: PetChanges;
  /** Without this port, requests with an idempotency key are refused. */
  readonly idempotentChanges?: IdempotentChanges | undefined;
  /** The number of days for which a request with an idempotency key can be retried. Default: 1. */
  readonly days?: number | undefined;
}

/**
 * Returns the recorded response when a record of this request exists for the caller's idempotency key. Otherwise stores what
 * `nextOf` returns for the current version, and begins again when another writer is faster. Throws `not_found` when the pet never
 * existed.
 *
 * @param request the request as text, equal for equal requests
 * @param nextOf gets the present pet, or `undefined` if the pet was already removed. Resolves with the new pet, with
 * the present pet if nothing changes, or with `undefined` to remove the pet.
 */
export async function writeVersion(
  { changes, idempotentChanges, days }: ChangePorts,
  id: bigint,
  request: string,
  nextOf: (pet: Pet | undefined) => Promise<Pet | undefined>,
  caller: Caller | undefined,
  options: CallOptions | undefined,
): Promise<{ readonly pet: Pet | undefined; readonly isReplay: boolean }> {
  const writes = caller
    ? supported(idempotentChanges, 'the idempotency key of a change')
    : unrecorded(changes);
  const attempt = {
    ...(caller ? checkedCaller(caller) : { caller: '', key: '' }),
    request,
    validFor: lifetimeOf(days),
  };
  return await retryLostRace(async () => {
    const { record, version } = await writes.find(id, attempt, options);
    // A storage that is written in plain JavaScript can resolve with `null`.
    if (record) {
      if (record.request !== request) throw keyConflict('request');
      await changes.confirm?.(options);
      return { pet: record.pet, isReplay: true };
    }
    if (!version) throw noSuchPet(id);
    const { revision } = version;
    const present = version.pet ?? undefined;
    const pet = await nextOf(present);
    const stored =
      pet === present
        ? await writes.record(id, pet, attempt, options)
        : await (pet
            ? writes.replace(pet, revision, attempt, options)
            : writes.remove(id, revision, attempt, options));
    return stored ? { pet, isReplay: false } : undefined;
  }, options?.signal);
}

/** Returns a port that stores no records, for requests without an idempotency key. */
function unrecorded(changes: PetChanges): IdempotentChanges {
  return {
    find: async (id, _, options) => ({ record: undefined, version: await changes.find(id, options) }),
    replace: (pet, expected, _, options) => changes.replace(pet, expected, options),
    remove: (id, expected, _, options) => changes.remove(id, expected, options),
    record: async (_id, _pet, _attempt, options) => {
      await changes.confirm?.(options);
      return true;
    },
  };
}

const CHANGED =
  'the pet has changed since it was read, or the entity tag is not its own: read it again, then decide';
const NO_TAG = 'expected a strong entity tag to match, with its double quotes and without W/';

/** Throws `not_found` if there is no pet, and `precondition_failed` if `ifMatch` is a list without the tag of the pet. */
export async function expectedPet(id: bigint, pet: Pet | undefined, ifMatch: IfMatch): Promise<Pet> {
  if (pet === undefined) throw noSuchPet(id);
  if (ifMatch === '*' || ifMatch.includes(await entityTagOf(pet))) return pet;
  const fault = ifMatch.length > 0 ? CHANGED : NO_TAG;
  throw new AnimalStoreError('precondition_failed', fault);
}

const ATTEMPTS = 20;
/** In milliseconds. Pauses are random, so that competing callers do not retry together. */
const LONGEST_PAUSE = 250;

/** Calls `attempt` again if it resolves with `undefined` (another writer was faster). Makes at most {@link ATTEMPTS} calls. */
export async function retryLostRace<T>(
  attempt: () => Promise<T | undefined>,
  signal?: AbortSignal,
): Promise<T> {
  for (let lost = 0; lost < ATTEMPTS; lost += 1) {
    if (lost > 0) await pause(Math.random() * Math.min(LONGEST_PAUSE, 2 ** lost), signal);
    const result = await attempt();
    if (result !== undefined) return result;
  }
  const fault = `other writers changed the pet ${ATTEMPTS} times in between: nothing was changed`;
  throw new AnimalStoreError('overloaded', fault);
}
