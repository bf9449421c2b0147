/** API keys: their attributes, and the rules for their names and for the time in which they are active. */

import { containsApiKey } from './api-key-format.ts';
import { invalidRequest } from './errors.ts';

/** The maximum length of a key name, in Unicode code points. */
const NAME_MAX_LENGTH = 100;

/** The attributes of a stored key, without the key itself. Times are milliseconds since the Unix epoch. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** The first characters of the key. These characters are enough to recognize the key, but too few to use the key. */
  readonly prefix: string;
  readonly createdAt: number;
  /** The time when the key expires. The key is active before this time, but not at this time. */
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
  /** The start of the last UTC day on which the key was used. */
  readonly lastUsedOn?: number | undefined;
  /**
   * For a key that replaced another key: the id of the first key in this series of replacements. All keys of the series
   * belong to the same caller. `undefined` for a key that replaced no other key.
   */
  readonly callerId?: string | undefined;
}

/** The attributes of a key that is not stored yet. */
export type NewApiKey = Pick<ApiKey, 'name' | 'prefix' | 'createdAt' | 'expiresAt'>;

export type ApiKeyStatus = 'active' | 'expired' | 'revoked';

/** Returns the status of a key at the time `now`. A key is active until it is revoked or expires. */
export function apiKeyStatus(key: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, now: number): ApiKeyStatus {
  if (key.revokedAt !== undefined) return 'revoked';
  return key.expiresAt === undefined || now < key.expiresAt ? 'active' : 'expired';
}

/** Returns whether a key is active at the time `now`. A key is active until it is revoked or expires. */
export function isActive(key: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, now: number): boolean {
  return apiKeyStatus(key, now) === 'active';
}

/**
 * Matches a character that the name of a key must not contain: a control or format character, a lone surrogate, an
 * unassigned character, or a line or paragraph separator.
 */
const FORBIDDEN_IN_NAME = /[\p{C}\p{Zl}\p{Zp}]/u;

/**
 * Matches a visible character. Unicode classifies some invisible characters as letters or symbols, for example the
 * Hangul filler and the blank Braille pattern. This expression does not match them.
 */
const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u;

/**
 * Checks the name of a key, and returns a valid name unchanged. Throws `invalid_request` when the name is too long, has
 * no visible character, contains a forbidden character or an API key, or starts or ends with white space.
 */
export function apiKeyName(name: string): string {
  const length = [...name].length;
  if (
    length > NAME_MAX_LENGTH ||
    FORBIDDEN_IN_NAME.test(name) ||
    !VISIBLE.test(name) ||
    name !== name.trim()
  ) {
    throw invalidRequest(
      `invalid name: expected 1 to ${NAME_MAX_LENGTH} characters, at least one of them visible, without control characters and without white space at the start or end`,
    );
  }
  if (containsApiKey(name)) throw invalidRequest('invalid name: it must not contain an API key');
  return name;
}
