import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkedCaller, idempotencyKey } from '../../src/domain/idempotency-key.ts';
import { codePoint } from '../support/code-points.ts';
import { runs } from '../support/property-runs.ts';
import { refusal } from '../support/refusal.ts';

test('a key of 1 to 255 visible ASCII characters is returned unchanged, and every other text is refused', () => {
  const unit = fc.oneof(
    { weight: 99, arbitrary: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)) },
    { weight: 1, arbitrary: codePoint },
  );
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 300 }), (text) => {
      if (/^[!-~]{1,255}$/.test(text)) expect(idempotencyKey(text)).toBe(text);
      else expect(() => idempotencyKey(text)).toThrow(refusal(/visible ASCII characters/));
    }),
    runs(),
  );
  expect(idempotencyKey('x'.repeat(255))).toHaveLength(255);
});

test.each(['', 'x'.repeat(256), 'a b', 'a\n', '\x7f', 7, null, undefined, ['a']])('refuses %j', (key) => {
  expect(() => idempotencyKey(key)).toThrow(refusal(/visible ASCII characters/));
});

test('a caller is well-formed text of at most 500 characters without U+0000', () => {
  for (const caller of ['', '\u{1f415}'.repeat(500)])
    expect(checkedCaller({ caller, key: 'a' })).toEqual({ caller, key: 'a' });
  for (const caller of [undefined, null, 1, {}, () => {}, '\ud800', 'a\0', 'x'.repeat(501)])
    expect(() => checkedCaller({ caller: caller as string, key: 'a' })).toThrow(refusal(/^caller must /));
  expect(() => checkedCaller({ caller: 'a', key: 'a b' })).toThrow(refusal(/^expected one idempotency key/));
});
