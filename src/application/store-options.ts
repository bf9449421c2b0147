/** The options of a store and of its calls. */

import { PET_FILTERS, type PetFilterInput } from '../domain/pet-filter.ts';
import { BOOLEAN, FUNCTION, type OptionRules, type Rule, TIMEOUT } from './arguments.ts';
import type { Deprecation } from './deprecation.ts';
import { STRONG_TAG } from './entity-tag.ts';
import type { ChangesPageQuery } from './list-changes.ts';
import type { PetPageQuery } from './list-pets.ts';
import type { RestoreOptions } from './ports/maintenance.ts';
import type { CallOptions } from './ports/pet-repository.ts';

/** The query of `AnimalStore.listPets`. */
export interface PetWalk extends Omit<PetPageQuery, 'limit'> {
  /** The maximum number of pets, 1 or more. By default, there is no maximum. */
  readonly limit?: number | undefined;
}

/** How an iteration follows the pets or the changes of a store. */
export interface Following {
  /** Ends the iteration, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait before the next read when no more pages follow, in milliseconds. Default: 1000. */
  readonly interval?: number | undefined;
}

/** The options of `AnimalStore.followPets`. */
export type FollowOptions = Following & Omit<PetPageQuery, 'limit'>;

/** The options of `AnimalStore.followChanges`. */
export type FollowChangesOptions = Following & Pick<ChangesPageQuery, 'after'>;

/** The time for which a write with an idempotency key can be retried. */
export interface RetryOptions {
  /** The number of days, from 1 to 90, for which this program can retry a write with its idempotency key. Default: 1. */
  readonly idempotencyDays?: number | undefined;
}

/** The options of `AnimalStore.createPet`. */
export interface CreateOptions extends CallOptions {
  /**
   * A key of 1 to 255 visible ASCII characters. For 24 hours, or the time in {@link RetryOptions}, an equal call with the same key
   * writes nothing, and resolves with the first result. Any different write with the same key rejects with `idempotency_conflict`.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The options of `AnimalStore.changePet` and `AnimalStore.removePet`. */
export interface ChangeOptions extends CreateOptions {
  /** One or several entity tags: the pet must have one of them. By default, or with `*`, the pet can have any entity tag. */
  readonly ifMatch?: string | readonly string[] | undefined;
}

/** The options of a store whose option `database` is the address of a server. Other stores need none of these options. */
export interface ClientOptions {
  /** The API key for the server. */
  readonly apiKey?: string | undefined;
  /** The default `timeout` of a call: the time limit of each request including its retries, in milliseconds. Default: 30,000. */
  readonly timeout?: number | undefined;
  /** Called once per store and deprecated operation. By default, `console.warn` is called once per process and operation. */
  readonly onDeprecation?: ((deprecation: Deprecation) => void) | undefined;
  /**
   * Replaces the `fetch` of the platform, for example by one that uses a client certificate. The replacement must
   * honour `signal`.
   */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Additional header fields of each request, for example for a gateway. The client itself sets `Authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export const SIGNAL: Rule = { expected: 'an AbortSignal', accepts: (value) => value instanceof AbortSignal };

export const RESTORE_OPTIONS: OptionRules<RestoreOptions> = {
  onProgress: FUNCTION,
  signal: SIGNAL,
  overwrite: BOOLEAN,
};
const ANY: Rule = { expected: '', accepts: () => true };
/** Any value passes here, because the use case checks the members of the query. */
export const CHANGES_QUERY: OptionRules<ChangesPageQuery> = { limit: ANY, after: ANY };
export const FILTER = Object.fromEntries(
  PET_FILTERS.map((name) => [name, ANY]),
) as OptionRules<PetFilterInput>;
export const QUERY: OptionRules<PetPageQuery> = { ...CHANGES_QUERY, ...FILTER };
export const CALL_OPTIONS: OptionRules<CallOptions> = { timeout: TIMEOUT, signal: SIGNAL };
export const CREATE_OPTIONS: OptionRules<CreateOptions> = { ...CALL_OPTIONS, idempotencyKey: ANY };
const isStrongTag = (value: unknown): boolean => typeof value === 'string' && STRONG_TAG.test(value);
const TAGS: Rule = {
  expected: 'a strong entity tag, which begins and ends with a double quote, an array of them, or *',
  accepts: (value) => value === '*' || (Array.isArray(value) ? value.every(isStrongTag) : isStrongTag(value)),
};
export const CHANGE_OPTIONS: OptionRules<ChangeOptions> = { ...CREATE_OPTIONS, ifMatch: TAGS };
export const FOLLOW_CHANGES_OPTIONS: OptionRules<FollowChangesOptions> = {
  after: ANY,
  signal: SIGNAL,
  interval: TIMEOUT,
};
export const FOLLOW_OPTIONS: OptionRules<FollowOptions> = { ...FOLLOW_CHANGES_OPTIONS, ...FILTER };
