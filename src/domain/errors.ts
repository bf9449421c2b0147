/** The error class `AnimalStoreError`, and the complete list of its error codes. */

/**
 * The codes that an {@link AnimalStoreError} can have.
 *
 * - `invalid_request`: the caller's input breaks a rule; the message names the field and the rule
 * - `not_found`: the requested object does not exist
 * - `idempotency_conflict`: the idempotency key was used for a different pet
 * - `rate_limited`: the caller has reached a limit, and the call had no effect; a retry after `retryAfter` seconds is safe
 * - `overloaded`: the call was refused and had no effect, because a queue is full; a retry is safe
 * - `storage_unavailable`: the storage cannot handle requests, for example because it cannot be reached, is full or is
 *   read-only
 * - `internal_error`: any other failure
 */
export type ErrorCode =
  | 'invalid_request'
  | 'not_found'
  | 'idempotency_conflict'
  | 'rate_limited'
  | 'overloaded'
  | 'storage_unavailable'
  | 'internal_error';

/**
 * The error that use cases and adapters throw. Distinguish errors by `code` and not with `instanceof`, because a
 * program can load two copies of this class.
 *
 * @example
 * ```ts
 * import { asAnimalStoreError, createAnimalStore } from 'animal-store';
 *
 * const store = await createAnimalStore({ database: 'memory:' });
 * try {
 *   await store.createPet({ name: '', categoryId: 7n });
 * } catch (error) {
 *   const refusal = asAnimalStoreError(error);
 *   if (refusal?.code !== 'invalid_request') throw error;
 *   console.log(refusal.message); // name must have 1 to 255 characters
 * }
 * await store.close();
 * ```
 */
export class AnimalStoreError extends Error {
  override readonly name = 'AnimalStoreError';
  readonly code: ErrorCode;
  /** After how many seconds a retry can succeed; `undefined` when this is unknown. */
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { readonly retryAfter?: number }) {
    super(message, options);
    this.code = code;
    this.retryAfter = options?.retryAfter;
  }
}

/** Returns the error for an input that breaks a rule. The message names the input and the rule. */
export function invalidRequest(message: string, options?: ErrorOptions): AnimalStoreError {
  return new AnimalStoreError('invalid_request', message, options);
}

/**
 * Returns the value when it is an `AnimalStoreError`, even when another copy of this module created it. Returns
 * `undefined` for any other value.
 */
export function asAnimalStoreError(error: unknown): AnimalStoreError | undefined {
  return error instanceof Error && error.name === 'AnimalStoreError' && 'code' in error
    ? (error as AnimalStoreError)
    : undefined;
}
