import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  API_KEY_BYTES,
  API_KEY_PREFIX,
  apiKeyPrefix,
  containsApiKey,
  formatApiKey,
  isApiKey,
  secretPartFinder,
  withoutApiKeys,
} from '../../src/domain/api-key.ts';
import { runs } from '../support/property-runs.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const bytes = fc.uint8Array({ minLength: API_KEY_BYTES, maxLength: API_KEY_BYTES });
const keys = bytes.map(formatApiKey);

function fromBase62(text: string): bigint {
  return [...text].reduce((value, digit) => value * 62n + BigInt(ALPHABET.indexOf(digit)), 0n);
}

describe('a generated key', () => {
  test('contains every random bit and the CRC-32 of the characters before the checksum', () => {
    fc.assert(
      fc.property(bytes, (random) => {
        const key = formatApiKey(random);
        expect(key).toMatch(/^pets_[0-9A-Za-z]{49}$/);
        const secret = key.slice(API_KEY_PREFIX.length, -6);
        expect(fromBase62(secret)).toBe(BigInt(`0x${Buffer.from(random).toString('hex')}`));
        expect(fromBase62(key.slice(-6))).toBe(BigInt(crc32(key.slice(0, -6))));
        expect(isApiKey(key)).toBe(true);
      }),
      runs(),
    );
  });

  test.each([0, 255])('has the same length when every byte is %i', (byte) => {
    const key = formatApiKey(new Uint8Array(API_KEY_BYTES).fill(byte));
    expect(key).toHaveLength(54);
    expect(isApiKey(key)).toBe(true);
  });

  test('is refused with one mistyped character', () => {
    const at = fc.nat({ max: 53 });
    const typed = fc.constantFrom(...ALPHABET, '_', ' ', 'é');
    fc.assert(
      fc.property(keys, at, typed, (key, index, character) => {
        fc.pre(key[index] !== character);
        return !isApiKey(key.slice(0, index) + character + key.slice(index + 1));
      }),
      runs(),
    );
  });

  test.each(['_', 'é'])('is refused with %s in its secret, although its checksum is right', (character) => {
    const body = API_KEY_PREFIX + character + '0'.repeat(42);
    let checksum = '';
    for (let rest = crc32(Buffer.from(body, 'latin1')); checksum.length < 6; rest = Math.floor(rest / 62)) {
      checksum = ALPHABET[rest % 62] + checksum;
    }
    expect(isApiKey(body + checksum)).toBe(false);
    expect(isApiKey(formatApiKey(new Uint8Array(API_KEY_BYTES)))).toBe(true);
  });

  test('is refused with characters added or removed at either end', () => {
    const key = formatApiKey(new Uint8Array(API_KEY_BYTES));
    for (const text of [` ${key}`, `${key} `, `${key}\n`, `${key}0`, key.slice(0, -1), key.slice(1)]) {
      expect(isApiKey(text)).toBe(false);
    }
  });

  test('has a prefix of its first 9 characters', () => {
    const key = formatApiKey(new Uint8Array(API_KEY_BYTES).fill(7));
    expect(apiKeyPrefix(key)).toBe(key.slice(0, 9));
  });
});

test('withoutApiKeys replaces each key by its prefix', () => {
  const key = formatApiKey(crypto.getRandomValues(new Uint8Array(API_KEY_BYTES)));
  const prefix = `${key.slice(0, 9)}…`;
  expect(withoutApiKeys(`no key ${key}, "${key.slice(0, 30)}"!`)).toBe(`no key ${prefix}, "${prefix}"!`);
  expect(withoutApiKeys('pets_1 of my pets')).toBe('pets_1 of my pets');
});

test.each([
  ['the whole key', 'an-Operators_own?key', true],
  ['its start', 'an-operators_own?', true],
  ['its end, within another text', 'xyz-ators_own?key-xyz', false],
  ['16 characters of its end, within another text', 'xyz-perators_own?key-xyz', true],
  ['a part without hyphens, in another case', 'ANOPERATORS_OWN?', true],
  ['15 characters', 'operators_own?k', false],
  ['the end of one key and the start of the next one', 'own?keyanother-ke', false],
  ['a part of the other key', 'ther-key-of-32-charac', true],
  ['nothing', '', false],
])('a secret part of a key is found: %s', (_case, text, isFound) => {
  const isSecret = secretPartFinder(['an-operators_own?key', 'another-key-of-32-characters']);
  expect(isSecret(text)).toBe(isFound);
  expect(secretPartFinder([])(text)).toBe(false);
});

test('a key is recognized in another case, in a URL, and next to another key', () => {
  const key = formatApiKey(crypto.getRandomValues(new Uint8Array(API_KEY_BYTES)));
  const secret = key.slice(API_KEY_PREFIX.length);
  for (const text of [
    key.toUpperCase(),
    `Pets_${secret}`,
    `?key=pets%5F${secret}&x`,
    `pets%5f${secret}`,
    key + key,
  ]) {
    expect(containsApiKey(text)).toBe(true);
    expect(withoutApiKeys(text).toLowerCase()).not.toContain(secret.slice(4, 20).toLowerCase());
  }
});
