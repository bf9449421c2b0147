import fc from 'fast-check';
import { expect, test } from 'vitest';
import { idempotencyKey } from '../../src/domain/idempotency-key.ts';
import { codePoint } from '../support/code-points.ts';
import { runs } from '../support/property-runs.ts';
import { refusal } from '../support/refusal.ts';

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
});

test('a key of 1 to 255 visible ASCII characters is returned unchanged', () => {
  fc.assert(
    fc.property(visible, (text) => {
      fc.pre(text.length >= 1 && text.length <= 255);
      expect(idempotencyKey(text)).toBe(text);
    }),
    runs(),
  );
  expect(idempotencyKey('x'.repeat(255))).toHaveLength(255);
});

test.each(['', 'x'.repeat(256), 'a b', 'a\n', '\x7f', 7, null, undefined, ['a']])('refuses %j', (key) => {
  expect(() => idempotencyKey(key)).toThrow(refusal(/visible ASCII characters/));
});

test('refuses every text with another character', () => {
  fc.assert(
    fc.property(visible, fc.string({ unit: codePoint, minLength: 1 }), visible, (before, text, after) => {
      fc.pre(!/^[!-~]*$/.test(text));
      expect(() => idempotencyKey(before + text + after)).toThrow('visible ASCII characters');
    }),
    runs(),
  );
});
