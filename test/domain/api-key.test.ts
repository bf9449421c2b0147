import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { API_KEY_BYTES, apiKeyName, apiKeyStatus, formatApiKey, isActive } from '../../src/domain/api-key.ts';
import { codePoint } from '../support/code-points.ts';
import { runs } from '../support/property-runs.ts';
import { refusal } from '../support/refusal.ts';

describe('the status of a key', () => {
  test.each([
    ['without an expiry', {}, 'active'],
    ['a moment before it expires', { expiresAt: 1001 }, 'active'],
    ['when it expires', { expiresAt: 1000 }, 'expired'],
    ['revoked before it expires', { revokedAt: 999, expiresAt: 2000 }, 'revoked'],
    ['revoked after it expired', { revokedAt: 999, expiresAt: 500 }, 'revoked'],
    ['revoked at a time in the future', { revokedAt: 2000 }, 'revoked'],
  ])('%s', (_, key, expected) => {
    expect(apiKeyStatus(key, 1000)).toBe(expected);
    expect(isActive(key, 1000)).toBe(expected === 'active');
  });
});

describe('a name of a key', () => {
  const refused = refusal(/^invalid name: expected 1 to 100 characters, at least one of them visible/);

  test.each([
    'a',
    'ci',
    'Anna’s laptop',
    'Ω 🐈',
    'a'.repeat(100),
    '🐈'.repeat(100),
    'e\u0301',
    'हिन्दी',
    '日本\u3000語',
    '❤\ufe0f',
  ])('can be %j', (name) => {
    expect(apiKeyName(name)).toBe(name);
  });

  test.each([
    '',
    'a'.repeat(101),
    '🐈'.repeat(101),
    'a\nb',
    '\0',
    'a\u202eb',
    '\ud83d',
    'a\u2028b',
    'a\u2029b',
  ])('cannot be %j', (name) => {
    expect(() => apiKeyName(name)).toThrow(refused);
  });

  /** White space, ignorable characters, combining marks and blanks, all of them invisible. */
  const invisible = fc.constantFrom(
    ...' \u00a0\u1680\u2003\u200a\u202f\u205f\u3000\u2800\u034f\u115f\u1160\u3164\uffa0\u17b4\u180b\ufe0f\u0301\u20dd',
    '\u{e0100}',
  );
  const visible = fc.constantFrom(...'aZ7-_.…é語अ', '🐈');

  test('cannot have invisible characters only', () => {
    const names = fc
      .array(invisible, { minLength: 1, maxLength: 20 })
      .map((characters) => characters.join(''));
    fc.assert(
      fc.property(names, (name) => {
        expect(() => apiKeyName(name)).toThrow(refused);
      }),
      runs(),
    );
  });

  test('that is accepted is unchanged, has a visible character and no control characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.oneof(invisible, visible, codePoint) }), (name) => {
        let accepted: string;
        try {
          accepted = apiKeyName(name);
        } catch {
          return;
        }
        expect(accepted).toBe(name);
        expect(accepted).toBe(accepted.trim());
        expect(accepted).toMatch(/[\p{L}\p{N}\p{P}\p{S}]/u);
        expect(accepted).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
      runs(),
    );
  });

  test('cannot contain a key or a secret part of one', () => {
    const key = formatApiKey(crypto.getRandomValues(new Uint8Array(API_KEY_BYTES)));
    for (const name of [key, `of ${key}`, key.slice(0, 21)]) {
      expect(() => apiKeyName(name)).toThrow(refusal('invalid name: it must not contain an API key'));
    }
    expect(apiKeyName('pets_of_the_shop')).toBe('pets_of_the_shop');
  });
});
