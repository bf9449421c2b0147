/** The error class of the core, and the complete list of its error codes. */

/**
 * The codes of all errors of the core.
 *
 * - `invalid_request`: the caller's input breaks a rule; the message names the field and the rule
 * - `not_found`: the requested object does not exist
 * - `overloaded`: the call was refused and had no effect, because a queue is full; a retry is safe
 * - `storage_unavailable`: the storage cannot serve, for example because it cannot be reached, is full or is
 *   read-only
 * - `internal_error`: any other failure
 */
export type ErrorCode =
  | 'invalid_request'
  | 'not_found'
  | 'overloaded'
  | 'storage_unavailable'
  | 'internal_error';

/**
 * The error of use cases and adapters. Distinguish errors by `code` and not with `instanceof`, because a program can
 * load two copies of this class.
 */
export class AnimalStoreError extends Error {
  override readonly name = 'AnimalStoreError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/**
 * Returns the error when it is an `AnimalStoreError` of this or another copy of this module. Returns `undefined` for
 * any other value.
 */
export function asAnimalStoreError(error: unknown): AnimalStoreError | undefined {
  return error instanceof Error && error.name === 'AnimalStoreError' && 'code' in error
    ? (error as AnimalStoreError)
    : undefined;
}
