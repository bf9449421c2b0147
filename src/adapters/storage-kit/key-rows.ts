/** Converts API keys to rows and back. A row contains the SHA-256 hash of a key instead of the key. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKey, NewApiKey } from '../../domain/api-key.ts';
import { INT64_MIN, parseInt64 } from '../../domain/int64.ts';

export function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Returns the values of an INSERT, from `hash` to `is_read_only`. A boolean becomes a number, because SQLite has no booleans. */
export function keyValues(key: string, about: NewApiKey): (string | number | Buffer | null)[] {
  const { name, prefix, createdAt, expiresAt, isReadOnly = false } = about;
  return [hashOf(key), name, prefix, createdAt, expiresAt ?? null, Number(isReadOnly)];
}

/** Converts the id of a key. An id that is not an int64 is converted to an id that no key has. */
export function rowIdOf(id: string): bigint {
  return parseInt64(id) ?? INT64_MIN;
}

/** Converts a row, whose second value is the hash, to the attributes of the key. */
export function apiKeyOf([id, , name, prefix, createdAt, ...others]: readonly unknown[]): ApiKey {
  const [expiresAt, revokedAt, lastUsedOn, callerId, isReadOnly] = others.map((value) => value ?? undefined);
  return Object.freeze({
    ...{ id, name, prefix, createdAt, expiresAt, revokedAt, lastUsedOn, callerId },
    isReadOnly: Boolean(isReadOnly),
  } as ApiKey);
}

/** Converts a row that was found by `hash`. Compares the hash of the row with `hash` in constant time. */
export function foundKey(row: readonly unknown[] | undefined, hash: Buffer): ApiKey | undefined {
  return row !== undefined && timingSafeEqual(row[1] as Buffer, hash) ? apiKeyOf(row) : undefined;
}
