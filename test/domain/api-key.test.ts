import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  API_KEY_BYTES,
  API_KEY_PREFIX,
  apiKeyName,
  apiKeyPrefix,
  apiKeyStatus,
  formatApiKey,
  isActive,
  isApiKey,
  secretPartFinder,
  withoutApiKeys,
} from '../../src/domain/api-key.ts';
import { codePoint } from '../support/code-points.ts';
import { runs } from '../support/property-runs.ts';
import { refusal } from '../support/refusal.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY = formatApiKey(crypto.getRandomValues(new Uint8Array(API_KEY_BYTES)));

const bytes = fc.uint8Array({ minLength: API_KEY_BYTES, maxLength: API_KEY_BYTES });

function fromBase62(text: string): bigint {
  return [...text].reduce((value, digit) => value * 62n + BigInt(ALPHABET.indexOf(digit)), 0n);
}

describe('a generated key', () => {
  test('contains every random bit and the CRC-32 of the characters before the checksum', () => {
    const check = (random: Uint8Array) => {
      const key = formatApiKey(random);
      expect(key).toMatch(/^pets_[0-9A-Za-z]{49}$/);
      const secret = key.slice(API_KEY_PREFIX.length, -6);
      expect(fromBase62(secret)).toBe(BigInt(`0x${Buffer.from(random).toString('hex')}`));
      expect(fromBase62(key.slice(-6))).toBe(BigInt(crc32(key.slice(0, -6))));
      expect(isApiKey(key)).toBe(true);
    };
    for (const byte of [0, 255]) check(new Uint8Array(API_KEY_BYTES).fill(byte));
    fc.assert(fc.property(bytes, check), runs());
  });

  test('is refused with one mistyped character, and with characters added or removed', () => {
    const position = fc.nat({ max: KEY.length - 1 });
    const typed = fc.constantFrom(...ALPHABET, '_', ' ', 'é');
    fc.assert(
      fc.property(bytes.map(formatApiKey), position, typed, (key, index, character) => {
        fc.pre(key[index] !== character);
        return !isApiKey(key.slice(0, index) + character + key.slice(index + 1));
      }),
      runs(),
    );
    for (const text of [` ${KEY}`, `${KEY} `, `${KEY}\n`, `${KEY}0`, KEY.slice(0, -1), KEY.slice(1)])
      expect(isApiKey(text)).toBe(false);
  });
});

test('withoutApiKeys shortens each key and each part of one, in any case, and in a URL', () => {
  const shown = KEY.slice(0, API_KEY_PREFIX.length + 4);
  const prefix = `${shown}…`;
  const part = KEY.slice(0, API_KEY_PREFIX.length + 16);
  expect(apiKeyPrefix(KEY)).toBe(shown);
  expect(withoutApiKeys(`no key ${KEY}, "${part}"!`)).toBe(`no key ${prefix}, "${prefix}"!`);
  expect(withoutApiKeys('pets_1 of my pets')).toBe('pets_1 of my pets');
  const secret = KEY.slice(API_KEY_PREFIX.length);
  for (const text of [KEY.toUpperCase(), `Pets_${secret}`, `?key=pets%5F${secret}&x`, KEY + KEY])
    expect(withoutApiKeys(text).toLowerCase()).not.toContain(secret.slice(4, 20).toLowerCase());
});

test.each([
  ['its start', 'an-operators_own?', true],
  ['16 characters of its end, within another text', 'xyz-perators_own?key-xyz', true],
  ['a part without hyphens, in another case', 'ANOPERATORS_OWN?', true],
  ['a part of the other key', 'ther-key-of-32-charac', true],
  ['15 characters', 'operators_own?k', false],
  ['the end of one key and the start of the next one', 'own?keyanother-ke', false],
  ['nothing', '', false],
])('a secret part of a key is found: %s', (_case, text, isFound) => {
  expect(secretPartFinder(['an-operators_own?key', 'another-key-of-32-characters'])(text)).toBe(isFound);
  expect(secretPartFinder([])(text)).toBe(false);
});

test.each([
  ['without an expiry', {}, 'active'],
  ['a moment before it expires', { expiresAt: 1001 }, 'active'],
  ['when it expires', { expiresAt: 1000 }, 'expired'],
  ['revoked after it expired', { revokedAt: 999, expiresAt: 500 }, 'revoked'],
  ['revoked at a time in the future', { revokedAt: 2000 }, 'revoked'],
])('the status of a key %s', (_, key, expected) => {
  expect(apiKeyStatus(key, 1000)).toBe(expected);
  expect(isActive(key, 1000)).toBe(expected === 'active');
});

describe('a name of a key', () => {
  test.each(['a', 'Anna’s laptop', '🐈'.repeat(100), 'हिन्दी', '日本\u3000語', '❤\ufe0f'])(
    'can be %j',
    (name) => {
      expect(apiKeyName(name)).toBe(name);
    },
  );

  test.each(['', ' ', ' a', 'a'.repeat(101), 'a\nb', '\0', 'a\u202eb', '\ud83d', 'a\u2028b', undefined])(
    'cannot be %j',
    (name) => {
      expect(() => apiKeyName(name as string)).toThrow(
        refusal(/^invalid name: expected 1 to 100 characters/),
      );
    },
  );

  test('that is accepted is unchanged, and has no control characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (name) => {
        try {
          expect(apiKeyName(name)).toBe(name);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid_request' });
          return;
        }
        expect(name).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
      runs(),
    );
  });

  test('cannot contain a key or a secret part of one', () => {
    for (const name of [`of ${KEY}`, KEY.slice(0, API_KEY_PREFIX.length + 16)])
      expect(() => apiKeyName(name)).toThrow(refusal('invalid name: it must not contain an API key'));
    expect(apiKeyName('pets_of_the_shop')).toBe('pets_of_the_shop');
  });
});
