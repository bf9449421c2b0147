/**
 * The codes of an {@link AnimalStoreError}.
 *
 * - `invalid_request`: the caller's input breaks a rule; the message names the field and the rule
 * - `unauthorized`: the server of a store refuses the API key
 * - `forbidden`: the API key may only read
 * - `not_found`: the requested object does not exist
 * - `invalid_transition`: an attribute of a pet cannot change from its present value to the given one
 * - `restart_required`: the cursor is from another epoch of the store, so the caller must begin again without a cursor
 * - `precondition_failed`: the pet has changed since the caller read it
 * - `precondition_required`: the server refuses a change that does not name a version of the pet
 * - `idempotency_conflict`: the idempotency key was used for a different request
 * - `rate_limited`: the caller has reached a limit, and the call had no effect; a retry after `retryAfter` seconds is safe
 * - `overloaded`: the call was refused and had no effect, for example because a queue is full; a retry is safe
 * - `storage_unavailable`: the storage cannot handle requests, for example because it is full or read-only
 * - `internal_error`: any other failure
 */
export const ERROR_CODES = [
  'invalid_request',
  'unauthorized',
  'forbidden',
  'not_found',
  'invalid_transition',
  'restart_required',
  'precondition_failed',
  'precondition_required',
  'idempotency_conflict',
  'rate_limited',
  'overloaded',
  'storage_unavailable',
  'internal_error',
] as const;
/** One of {@link ERROR_CODES}. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** The details of an {@link AnimalStoreError}. */
export type ErrorDetails = ErrorOptions & Partial<Pick<AnimalStoreError, 'retryAfter' | 'idempotencyKey'>>;

/**
 * The error that use cases and adapters throw. Distinguish errors by `code` and not with `instanceof`, because a program can load
 * two copies of this class.
 *
 * @example
 * ```ts
 * import { asAnimalStoreError, createAnimalStore } from 'animal-store';
 *
 * const store = await createAnimalStore({ database: 'memory:' });
 * try {
 *   await store.getPet(7n);
 * } catch (error) {
 *   const refusal = asAnimalStoreError(error);
 *   if (refusal?.code !== 'not_found') throw error;
 *   console.log(refusal.message); // there is no pet with id 7
 * }
 * await store.close();
 * ```
 */
export class AnimalStoreError extends Error {
  override readonly name = 'AnimalStoreError';
  readonly code: ErrorCode;
  /** The number of seconds after which a retry can succeed; `undefined` when this is unknown. */
  readonly retryAfter: number | undefined;
  /**
   * The idempotency key of a write that was aborted, or whose outcome on a server is unknown. Repeat the call
   * with this key to get the result of the write: the write takes effect only once. An aborted write without a key
   * (`undefined`) may still take effect. A write to a server always has a key.
   */
  readonly idempotencyKey: string | undefined;

  constructor(code: ErrorCode, message: string, options?: ErrorDetails) {
    super(message, options);
    this.code = code;
    this.retryAfter = options?.retryAfter;
    this.idempotencyKey = options?.idempotencyKey;
  }
}

export function invalidRequest(message: string, options?: ErrorOptions): AnimalStoreError {
  return new AnimalStoreError('invalid_request', message, options);
}

/**
 * Whether a value is an error, even one of another realm. In Jest and `node:vm`, an error that Node.js itself throws is not an
 * instance of the `Error` class of the program.
 */
export function isError(value: unknown): value is Error {
  const tag = Object.prototype.toString.call(value);
  return value instanceof Error || /^\[object (?:Error|DOMException)\]$/.test(tag);
}

/** Returns the value unchanged if it is an `AnimalStoreError` of any copy of this module, and otherwise `undefined`. */
export function asAnimalStoreError(error: unknown): AnimalStoreError | undefined {
  const isKnown = isError(error) && error.name === 'AnimalStoreError' && 'code' in error;
  return isKnown ? (error as AnimalStoreError) : undefined;
}
