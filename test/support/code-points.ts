import fc from 'fast-check';

/** The number of surrogates, which are the code points from U+D800 to U+DFFF. */
const SURROGATES = 0x800;

/**
 * Any code point except surrogates, as the `unit` of a random string. The unit `binary` of fast-check yields the same
 * code points, but needs seconds of processor time before the first string.
 */
export const codePoint: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10ffff - SURROGATES })
  .map((index) => String.fromCodePoint(index < 0xd800 ? index : index + SURROGATES));
