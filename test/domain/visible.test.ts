import fc from 'fast-check';
import { expect, test } from 'vitest';
import { visible, visibleLines } from '../../src/domain/visible.ts';
import { codePoint } from '../support/code-points.ts';
import { runs } from '../support/property-runs.ts';
import { EVIL, hasUnsafe } from '../support/unsafe-text.ts';

const anyText = fc.string({ unit: fc.oneof(fc.constantFrom(...EVIL, '\n', '\ud83d'), codePoint) });

test('an escaped text contains no unsafe character, and has the same meaning in JSON', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(hasUnsafe(visible(text))).toBe(false);
      expect(visible(text)).not.toContain('\n');
      expect(visibleLines(text)).toBe(text.split('\n').map(visible).join('\n'));
      const json = JSON.stringify({ [text]: text });
      expect(JSON.parse(visible(json))).toEqual(JSON.parse(json));
    }),
    runs(),
  );
});
