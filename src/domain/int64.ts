/** Signed 64-bit integers: their range, and their exact way in from text. */

/** The smallest int64, -2^63. */
export const INT64_MIN: bigint = -(2n ** 63n);
/** The greatest int64, 2^63 - 1. */
export const INT64_MAX: bigint = 2n ** 63n - 1n;

const MAX_DIGITS = 19;
const DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/;
const JSON_NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Greedy from the start: `/0+$/` takes quadratic time on a long run of zeros, and the text is a client's. */
const UP_TO_LAST_NON_ZERO = /^\d*[1-9]/;

/** Whether a value is a bigint in the range. */
export function isInt64(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= INT64_MIN && value <= INT64_MAX;
}

/** Reads a plain decimal integer: no sign but a minus, no leading zero, no space. `undefined` for anything else. */
export function parseInt64(text: string): bigint | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const value = BigInt(text);
  return isInt64(value) ? value : undefined;
}

/**
 * Reads a JSON number (RFC 8259, section 6) by its value: `5`, `5.0` and `5e0` are all 5n.
 * `undefined` when the value is no integer or out of range. Never builds a number larger than the range,
 * whatever the exponent.
 */
export function parseJsonInt64(source: string): bigint | undefined {
  const match = JSON_NUMBER.exec(source);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = UP_TO_LAST_NON_ZERO.exec(digits)?.[0];
  if (significant === undefined) return 0n;
  const zeros = Number(exponent) - fraction.length + (digits.length - significant.length);
  if (zeros < 0 || significant.length + zeros > MAX_DIGITS) return undefined;
  const value = BigInt(sign + significant + '0'.repeat(zeros));
  return isInt64(value) ? value : undefined;
}
