/** What changes and removals of a pet have in common: with or without an idempotency key, and compared with a revision. */

import { idempotencyKey, keyConflict } from '../domain/idempotency-key.ts';
import type { Pet } from '../domain/pet.ts';
import { IDEMPOTENCY_DAYS } from './create-pet.ts';
import type {
  AttemptState,
  ChangeAttempt,
  IdempotentChanges,
  WriteRecord,
} from './ports/idempotent-changes.ts';
import { DAY } from './ports/idempotent-creates.ts';
import type { PetChanges } from './ports/pet-changes.ts';
import type { CallOptions } from './ports/pet-repository.ts';
import { supported } from './store-options.ts';

/** Who makes a request, and the key with which the request can be repeated. */
export interface Caller {
  readonly caller: string;
  readonly key: string;
}

/** The ports of the use cases that change pets. */
export interface ChangePorts {
  readonly changes: PetChanges;
  /** Without it, requests with an idempotency key are refused. */
  readonly idempotentChanges?: IdempotentChanges | undefined;
  /** The number of days for which a request with an idempotency key can be repeated. Default: 1. */
  readonly days?: number | undefined;
}

export interface VersionedWrites {
  readonly request: string;
  find(): Promise<Partial<AttemptState>>;
  /** These resolve with `false` when another writer was faster. */
  replace(pet: Pet, expected: bigint): Promise<boolean>;
  remove(expected: bigint): Promise<boolean>;
  /** Stores the record of a request that changes nothing, if the request has a key. */
  recordOnly(pet: Pet | undefined): Promise<boolean>;
}

export function versionedWrites(
  { changes, idempotentChanges, days = IDEMPOTENCY_DAYS }: ChangePorts,
  id: bigint,
  request: string,
  caller: Caller | undefined,
  options: CallOptions | undefined,
): VersionedWrites {
  if (caller === undefined) {
    return {
      request,
      find: async () => ({ version: await changes.find(id, options) }),
      replace: async (pet, expected) => (await changes.replace(pet, expected, options)) !== undefined,
      remove: async (expected) => (await changes.remove(id, expected, options)) !== undefined,
      recordOnly: async () => true,
    };
  }
  const writes = supported(idempotentChanges, 'Idempotency-Key of a change');
  const key = idempotencyKey(caller.key);
  const attempt: ChangeAttempt = { caller: caller.caller, key, request, validFor: days * DAY };
  return {
    request,
    find: () => writes.find(id, attempt, options),
    replace: async (pet, expected) => (await writes.replace(pet, expected, attempt, options)) !== undefined,
    remove: async (expected) => (await writes.remove(id, expected, attempt, options)) !== undefined,
    recordOnly: (pet) => writes.record(id, pet, attempt, options),
  };
}

/** Returns the first response to a request that is repeated. */
export function replayOf(
  record: WriteRecord,
  { request }: Pick<VersionedWrites, 'request'>,
): Pet | undefined {
  if (record.request === request) return record.pet;
  throw keyConflict('request');
}
