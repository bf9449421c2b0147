import { AnimalStoreError, invalidRequest } from './errors.ts';

export const IDEMPOTENCY_KEY_MAX_LENGTH = 255;

const IDEMPOTENCY_KEY = new RegExp(`^[\\x21-\\x7e]{1,${IDEMPOTENCY_KEY_MAX_LENGTH}}$`);

/** Returns a valid idempotency key unchanged. Throws `invalid_request` for any other value. */
export function idempotencyKey(key: unknown): string {
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key;
  throw invalidRequest(
    `expected one idempotency key, of 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} visible ASCII characters`,
  );
}

/** Returns the error for a key that was used for another pet, or for another request. */
export function keyConflict(use: 'pet' | 'request'): AnimalStoreError {
  const message = `the idempotency key was used for a different ${use}: use a new key for each ${use}`;
  return new AnimalStoreError('idempotency_conflict', message);
}
