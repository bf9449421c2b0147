/** The one error class of the core and its closed set of codes. */

/**
 * Every way in which the core can fail.
 *
 * - `invalid_request`: the caller's input breaks a rule; the message names the field and the rule
 * - `not_found`: there is no such thing
 * - `overloaded`: refused unharmed because too much is waiting; safe to try again
 * - `storage_unavailable`: the storage cannot be reached, is full or is read-only
 * - `internal_error`: anything else
 */
export type ErrorCode =
  | 'invalid_request'
  | 'not_found'
  | 'overloaded'
  | 'storage_unavailable'
  | 'internal_error';

/** What use cases and adapters throw. Tell errors apart by `code`: a program can have loaded this class twice. */
export class AnimalStoreError extends Error {
  override readonly name = 'AnimalStoreError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The error as one of ours, whichever copy of this module made it; `undefined` for anything else. */
export function asAnimalStoreError(error: unknown): AnimalStoreError | undefined {
  return error instanceof Error && error.name === 'AnimalStoreError' && 'code' in error
    ? (error as AnimalStoreError)
    : undefined;
}
