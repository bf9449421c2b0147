/** API keys: what one looks like, and when one is good. */

import { AnimalStoreError } from './errors.ts';

/** What every generated key starts with, so that a scanner can find a leaked one. */
export const API_KEY_PREFIX = 'pets_';

/** Random bytes in a generated key. */
export const API_KEY_BYTES = 32;

/** Bounds of a key's name, in Unicode code points. */
export const API_KEY_NAME_MAX_LENGTH = 100;

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const HINT_LENGTH = API_KEY_PREFIX.length + 4;
const SHAPE = new RegExp(`^${API_KEY_PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** A key, or so much of one that it must not be shown: in any case, in a URL, and with what follows it. */
const LOOKS_LIKE_A_KEY = new RegExp(`${API_KEY_PREFIX.replace('_', '(?:_|%5f)')}[0-9a-z]{16}\\w*`, 'i');
const ALL_THAT_LOOK_LIKE_KEYS = new RegExp(LOOKS_LIKE_A_KEY, 'gi');

/** What is known about a key once it was shown: everything but the key. Times are milliseconds since the Unix epoch. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** The first characters of the key, enough to recognise it and far too few to use it. */
  readonly hint: string;
  readonly createdAt: number;
  /** From this moment on the key is no longer good. */
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
  /** The start of the last UTC day on which the key was used. */
  readonly lastUsedOn?: number | undefined;
}

/** A key that has no id yet. */
export type NewApiKey = Pick<ApiKey, 'name' | 'hint' | 'createdAt' | 'expiresAt'>;

/** Makes a key from {@link API_KEY_BYTES} random bytes: prefix, 43 base62 characters, 6 characters of checksum. */
export function formatApiKey(random: Uint8Array): string {
  let secret = 0n;
  for (const byte of random) secret = (secret << 8n) | BigInt(byte);
  const body = API_KEY_PREFIX + base62(secret, SECRET_LENGTH);
  return body + checksum(body);
}

/** Whether a text can be a generated key at all: its shape and its checksum are right. */
export function isApiKey(text: string): boolean {
  return SHAPE.test(text) && text.endsWith(checksum(text.slice(0, text.length - CHECKSUM_LENGTH)));
}

/** The first characters of a key, to recognise it by. */
export function apiKeyHint(key: string): string {
  return key.slice(0, HINT_LENGTH);
}

/** Whether a text contains what may be a generated key, or much of one. */
export function containsApiKey(text: string): boolean {
  return LOOKS_LIKE_A_KEY.test(text);
}

/** A text that somebody else wrote, with no more of a key in it than its hint. */
export function withoutApiKeys(text: string): string {
  return text.replaceAll(ALL_THAT_LOOK_LIKE_KEYS, (key) => `${apiKeyHint(key)}…`);
}

/** Whether a key is good at a moment: neither revoked nor expired. */
export function isActive(key: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, now: number): boolean {
  return key.revokedAt === undefined && (key.expiresAt === undefined || now < key.expiresAt);
}

/** Control and format characters, lone surrogates, characters without a meaning, and separators of lines. */
const FORBIDDEN_IN_NAME = /[\p{C}\p{Zl}\p{Zp}]/u;

/** Fillers and the blank Braille pattern count as letters and symbols, but nobody sees them. */
const VISIBLE = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u;

/** The name as given, or `invalid_request` when it cannot be one: a person could not read it, or it has a key in it. */
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
      `a key's name must have 1 to ${API_KEY_NAME_MAX_LENGTH} characters, at least one of them visible, no control characters, and no white space at its start or end`,
    );
  }
  if (containsApiKey(name)) {
    throw new AnimalStoreError('invalid_request', "a key's name must not have a key in it");
  }
  return name;
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text;
}

/** CRC-32 (ISO 3309) in base62: catches a mistyped key, protects nothing. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index++) {
    crc ^= text.charCodeAt(index);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return base62(BigInt((crc ^ 0xffffffff) >>> 0), CHECKSUM_LENGTH);
}
