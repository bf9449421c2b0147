/** The format of API keys, and the rule that decides whether a key is active. */

import { AnimalStoreError } from './errors.ts';

/** The prefix of every generated key. Secret scanners recognize a leaked key by this prefix. */
export const API_KEY_PREFIX = 'pets_';

/** The number of random bytes in a generated key. */
export const API_KEY_BYTES = 32;

/** The maximum length of a key name, in Unicode code points. */
export const API_KEY_NAME_MAX_LENGTH = 100;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const DIGIT_VALUES = Uint8Array.from({ length: 128 }, (_, code) =>
  ALPHABET.indexOf(String.fromCharCode(code)),
);
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const BODY_LENGTH = API_KEY_PREFIX.length + SECRET_LENGTH;
const PREFIX_LENGTH = API_KEY_PREFIX.length + 4;
const SHAPE = new RegExp(`^${API_KEY_PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/**
 * Matches a whole key, or a part of a key that is long enough to be secret: `pets_` and at least 16 letters or digits.
 * Upper and lower case are not distinguished. The underscore can be percent-encoded, as in a URL.
 */
const LOOKS_LIKE_A_KEY = new RegExp(`${API_KEY_PREFIX.replace('_', '(?:_|%5f)')}[0-9a-z]{16}\\w*`, 'i');
const ALL_THAT_LOOK_LIKE_KEYS = new RegExp(LOOKS_LIKE_A_KEY, 'gi');

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

/**
 * Formats {@link API_KEY_BYTES} random bytes as a key. The key consists of `pets_`, 43 base62 characters that represent
 * the bytes, and a checksum of 6 characters.
 */
export function formatApiKey(random: Uint8Array): string {
  let secret = 0n;
  for (const byte of random) secret = (secret << 8n) | BigInt(byte);
  const body = API_KEY_PREFIX + base62(secret, SECRET_LENGTH);
  return body + base62(BigInt(checksum(body, body.length)), CHECKSUM_LENGTH);
}

/** Returns whether a string has the format of a generated key, including a correct checksum. */
export function isApiKey(text: string): boolean {
  return SHAPE.test(text) && checksum(text, BODY_LENGTH) === fromBase62(text, BODY_LENGTH);
}

/** Returns the first characters of a key. These characters may be shown. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, PREFIX_LENGTH);
}

/** Returns whether a text contains a key, or a part of a key that must stay secret. */
export function containsApiKey(text: string): boolean {
  return LOOKS_LIKE_A_KEY.test(text);
}

/** Shortens each key in a text, and each secret part of a key, to its first characters and `…`. */
export function withoutApiKeys(text: string): string {
  return text.replaceAll(ALL_THAT_LOOK_LIKE_KEYS, (key) => `${apiKeyPrefix(key)}…`);
}

/** A part of a key is secret if it has at least this number of characters. */
const SECRET_PART_LENGTH = 16;

/**
 * Returns a function that decides whether a text contains a secret part of one of the keys, which can have any format.
 * Upper and lower case are not distinguished, and hyphens are ignored: a UUID can be written without them.
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
    length > API_KEY_NAME_MAX_LENGTH ||
    FORBIDDEN_IN_NAME.test(name) ||
    !VISIBLE.test(name) ||
    name !== name.trim()
  ) {
    throw new AnimalStoreError(
      'invalid_request',
      `invalid name: expected 1 to ${API_KEY_NAME_MAX_LENGTH} characters, at least one of them visible, without control characters and without white space at the start or end`,
    );
  }
  if (containsApiKey(name)) {
    throw new AnimalStoreError('invalid_request', 'invalid name: it must not contain an API key');
  }
  return name;
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text;
}

/** Reads the base62 digits from the index `start` to the end of the text as one number. */
function fromBase62(text: string, start: number): number {
  let value = 0;
  for (let index = start; index < text.length; index++) {
    value = value * 62 + (DIGIT_VALUES[text.charCodeAt(index)] as number);
  }
  return value;
}

/** The CRC-32 of each byte value (ISO 3309, polynomial 0xedb88320). */
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
});

/** Returns the CRC-32 of the first `length` characters. The checksum detects typing errors, but not attacks. */
function checksum(text: string, length: number): number {
  let crc = 0xffffffff;
  for (let index = 0; index < length; index++) {
    crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ text.charCodeAt(index)) & 0xff] as number);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
