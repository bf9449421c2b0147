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
  if (
    typeof name !== 'string' ||
    [...name].length > NAME_MAX_LENGTH ||
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

/** Secret scanners recognize a leaked key by this prefix. */
export const API_KEY_PREFIX = 'pets_';

export const API_KEY_BYTES = 32;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const BODY_LENGTH = API_KEY_PREFIX.length + SECRET_LENGTH;
const KEY_LENGTH = BODY_LENGTH + CHECKSUM_LENGTH;
const PREFIX_LENGTH = API_KEY_PREFIX.length + 4;

/** The value of each base62 digit by its character code, and -1 for other characters. */
const DIGITS = Int8Array.from({ length: 128 }, (_, code) => ALPHABET.indexOf(String.fromCharCode(code)));

/** Matches a key or a secret part of it. The underscore can be percent-encoded, as in a URL. */
const LOOKS_LIKE_A_KEY = new RegExp(`${API_KEY_PREFIX.replace('_', '(?:_|%5f)')}[0-9a-z]{16}\\w*`, 'gi');

/** Formats {@link API_KEY_BYTES} random bytes as a key: `pets_`, 43 base62 characters and a checksum of 6 characters. */
export function formatApiKey(random: Uint8Array): string {
  let secret = 0n;
  for (const byte of random) secret = (secret << 8n) | BigInt(byte);
  let digits = '';
  for (; digits.length < SECRET_LENGTH; secret /= 62n) digits = ALPHABET[Number(secret % 62n)] + digits;
  const body = API_KEY_PREFIX + digits;
  let checksum = '';
  for (let rest = crc32(body); checksum.length < CHECKSUM_LENGTH; rest = Math.floor(rest / 62)) {
    checksum = ALPHABET[rest % 62] + checksum;
  }
  return body + checksum;
}

/** Returns whether a string has the format of a generated key, including a correct checksum. */
export function isApiKey(text: string): boolean {
  if (text.length !== KEY_LENGTH || !text.startsWith(API_KEY_PREFIX)) return false;
  let checksum = 0;
  for (let index = API_KEY_PREFIX.length; index < KEY_LENGTH; index++) {
    const digit = DIGITS[text.charCodeAt(index)] ?? -1;
    if (digit < 0) return false;
    if (index >= BODY_LENGTH) checksum = checksum * 62 + digit;
  }
  return checksum === crc32(text);
}

/** Returns the first characters of a key, which may be shown. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, PREFIX_LENGTH);
}

export function containsApiKey(text: string): boolean {
  return text.search(LOOKS_LIKE_A_KEY) >= 0;
}

/** Shortens each key, and each secret part of a key, to its first characters and `…`. */
export function withoutApiKeys(text: string): string {
  return text.replaceAll(LOOKS_LIKE_A_KEY, (key) => `${apiKeyPrefix(key)}…`);
}

const SECRET_PART_LENGTH = 16;

/** Finds a secret part of a key of any format. Hyphens are ignored, because a UUID can be written without them. */
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

/** Returns the CRC-32 of the characters before the checksum. It detects typing errors, but not attacks. */
function crc32(key: string): number {
  let crc = 0xffffffff;
  for (let index = 0; index < BODY_LENGTH; index++) {
    crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ key.charCodeAt(index)) & 0xff] as number);
  }
  return ~crc >>> 0;
}
