/** The attributes and the format of API keys. */

import { invalidRequest } from './errors.ts';

/** The maximum length of a name, in Unicode code points. */
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
  /** The caller id: the id of the first key in a series of replacements. Present only if this key has replaced another one. */
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

/** Control, format, private-use and unassigned characters, lone surrogates, and line and paragraph separators. */
const FORBIDDEN_IN_NAME = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Returns a valid name of a key unchanged. Throws `invalid_request` for any other name. */
export function apiKeyName(name: string): string {
  const length = typeof name === 'string' && name === name.trim() ? [...name].length : 0;
  if (length < 1 || length > NAME_MAX_LENGTH || FORBIDDEN_IN_NAME.test(name)) {
    throw invalidRequest(
      `invalid name: expected 1 to ${NAME_MAX_LENGTH} characters, without control characters and without white space at the start or end`,
    );
  }
  if (withoutApiKeys(name) !== name) throw invalidRequest('invalid name: it must not contain an API key');
  return name;
}

/** Secret scanners recognize a leaked key by this prefix. */
export const API_KEY_PREFIX = 'pets_';

export const API_KEY_BYTES = 32;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const PREFIX_LENGTH = API_KEY_PREFIX.length + 4;
const FORMAT = new RegExp(`^${API_KEY_PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** Matches a key that is whole, or truncated after at least 16 characters of its secret. `_` can be percent-encoded. */
const LOOKS_LIKE_A_KEY = new RegExp(`${API_KEY_PREFIX.replaceAll('_', '(?:_|%5f)')}[0-9a-z]{16}\\w*`, 'gi');

/** Formats {@link API_KEY_BYTES} random bytes as a key: `pets_`, 43 base62 characters and a checksum of 6 characters. */
export function formatApiKey(random: Uint8Array): string {
  let secret = 0n;
  for (const byte of random) secret = (secret << 8n) | BigInt(byte);
  let digits = '';
  for (; digits.length < SECRET_LENGTH; secret /= 62n) digits = ALPHABET[Number(secret % 62n)] + digits;
  const body = API_KEY_PREFIX + digits;
  return body + checksumOf(body);
}

/** Returns whether a string has the format of a generated key, including a correct checksum. */
export function isApiKey(text: string): boolean {
  return FORMAT.test(text) && text.endsWith(checksumOf(text.slice(0, -CHECKSUM_LENGTH)));
}

/** Returns the first characters of a key, which may be shown. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, PREFIX_LENGTH);
}

/** Replaces each key, even one truncated after 16 or more characters of its secret, by its first characters and `…`. */
export function withoutApiKeys(text: string): string {
  return text.replaceAll(LOOKS_LIKE_A_KEY, (key) => `${apiKeyPrefix(key)}…`);
}

const SECRET_PART_LENGTH = 16;

/**
 * Returns a function that tells whether a text contains 16 successive characters of one of the keys. The keys can have any format.
 * Hyphens and case are ignored, because a key that is a UUID can be written without hyphens or in capitals.
 */
export function secretPartFinder(keys: readonly string[]): (text: string) => boolean {
  const secrets = keys.map(withoutHyphens).join('\n');
  return (text) => {
    const searched = withoutHyphens(text);
    for (let end = SECRET_PART_LENGTH; end <= searched.length; end++) {
      if (secrets.includes(searched.slice(end - SECRET_PART_LENGTH, end))) return true;
    }
    return false;
  };
}

function withoutHyphens(text: string): string {
  return text.replaceAll('-', '').toLowerCase();
}

/** The CRC-32 of each byte value (ISO 3309, polynomial 0xedb88320). */
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
});

/** Returns the CRC-32 of a text, as base62 digits. This checksum detects typing errors, but not attacks. */
function checksumOf(text: string): string {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index++) {
    crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ text.charCodeAt(index)) & 0xff] as number);
  }
  let digits = '';
  for (let rest = ~crc >>> 0; digits.length < CHECKSUM_LENGTH; rest = Math.floor(rest / 62)) {
    digits = ALPHABET[rest % 62] + digits;
  }
  return digits;
}
