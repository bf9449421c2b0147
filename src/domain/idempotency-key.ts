import { textFault } from './attribute.ts';
import { AnimalStoreError, invalidRequest } from './errors.ts';

export const IDEMPOTENCY_KEY_MAX_LENGTH = 255;
/** In Unicode code points. PostgreSQL limits the size of an index entry, which contains the caller and the key. */
export const CALLER_MAX_LENGTH = 500;

const IDEMPOTENCY_KEY = new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_MAX_LENGTH}}$`);

/** Returns a valid idempotency key unchanged. Throws `invalid_request` for any other value. */
export function idempotencyKey(key: unknown): string {
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key;
  throw invalidRequest(
    `expected one idempotency key, of 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} visible ASCII characters`,
  );
}

/** Validates a caller and its idempotency key, and returns both. Throws `invalid_request` if one of them is invalid. */
export function checkedCaller(by: { readonly caller: string; readonly key: string }): typeof by {
  const { caller, key } = by;
  const fault = textFault(caller, 0, CALLER_MAX_LENGTH);
  if (fault !== undefined) throw invalidRequest(`caller must ${fault}`);
  return { caller, key: idempotencyKey(key) };
}

/** Returns the error for a key that was used for another pet, or for another request. */
export function keyConflict(use: 'pet' | 'request'): AnimalStoreError {
  const message = `the idempotency key was used for a different ${use}: use a new key for each ${use}`;
  return new AnimalStoreError('idempotency_conflict', message);
}
