/** Computes the value of a JSON number, without any code of the server. */

const INT64_MIN = -9_223_372_036_854_775_808n;
const INT64_MAX = 9_223_372_036_854_775_807n;

/** The grammar of RFC 8259, section 6. */
const NUMBER = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/** No int64 has this many digits, so greater powers of ten need not be computed. */
const ENOUGH = 1000n;

/** Returns the int64 value of a JSON number; `undefined` for any other number or text. */
export function int64Of(text: string): bigint | undefined {
  if (!NUMBER.test(text)) return undefined;
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  let value = BigInt(whole + fraction);
  if (value === 0n) return 0n;
  let power = BigInt(exponent.replace('+', '')) - BigInt(fraction.length);
  for (; power < 0n && value % 10n === 0n; power += 1n) value /= 10n;
  if (power < 0n || power > ENOUGH) return undefined;
  value *= 10n ** power;
  if (text.startsWith('-')) value = -value;
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}
