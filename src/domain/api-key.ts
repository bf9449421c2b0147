import { containsApiKey } from './api-key-format.ts';
import { invalidRequest } from './errors.ts';

/** In Unicode code points. */
const NAME_MAX_LENGTH = 100;

/** The attributes of a stored key, without the key itself. Times are milliseconds since the Unix epoch. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** The first characters of the key, which are enough to recognize it. */
  readonly prefix: string;
  readonly createdAt: number;
  /** The key is active before this time, but not at this time. */
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
  /** The start of the last UTC day on which the key was used. */
  readonly lastUsedOn?: number | undefined;
  /** Whether a client with this key may only read. */
  readonly isReadOnly?: boolean | undefined;
  /** For a key that replaced another one: the id of the first key of the same caller. */
  readonly callerId?: string | undefined;
}

/** The attributes of a key that is not stored yet. */
export type NewApiKey = Pick<ApiKey, 'name' | 'prefix' | 'createdAt' | 'expiresAt' | 'isReadOnly'>;

export type ApiKeyStatus = 'active' | 'expired' | 'revoked';

export function apiKeyStatus(key: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, now: number): ApiKeyStatus {
  if (key.revokedAt !== undefined) return 'revoked';
  return key.expiresAt === undefined || now < key.expiresAt ? 'active' : 'expired';
}

/** Returns whether a key is active at the time `now`. A key is active until it is revoked or expires. */
export function isActive(key: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, now: number): boolean {
  return apiKeyStatus(key, now) === 'active';
}

/** A control or format character, a lone surrogate, an unassigned character, or a line or paragraph separator. */
const FORBIDDEN_IN_NAME = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Unicode classifies some invisible characters as letters or symbols, such as the blank Braille pattern. */
const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u;

/** Returns a valid name of a key unchanged. Throws `invalid_request` for any other name. */
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
