/** The smallest int64, -2^63. */
export const INT64_MIN: bigint = -(2n ** 63n);
/** The greatest int64, 2^63 - 1. */
export const INT64_MAX: bigint = 2n ** 63n - 1n;

const MAX_DIGITS = 19;
const DECIMAL = /^(?:0|-?[1-9]\d{0,18})$/;
const JSON_NUMBER = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Matches the digits up to the last one that is not zero. `/0+$/` would also find the zeros at the end, but in
 * quadratic time for a number with many zeros before another digit.
 */
const UP_TO_LAST_NON_ZERO = /^\d*[1-9]/;

/** Returns whether a value is a bigint in the range of an int64. */
export function isInt64(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= INT64_MIN && value <= INT64_MAX;
}

/** Returns an int64 as a `bigint`. A `number` must be a safe integer, because a larger one may already be rounded. */
export function toInt64(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return isInt64(value) ? value : undefined;
}

/** Returns the message for a value that is not an integer from `min` to `max`. */
export function int64Fault(
  name: string,
  value: unknown,
  min: bigint = INT64_MIN,
  max: bigint = INT64_MAX,
): string {
  const rule = `${name} must be an integer from ${min} to ${max}`;
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return rule;
  return `${rule}: expected a bigint such as 7n, or a safe integer, got ${shown(value)}`;
}

/** The maximum length of a string that a message shows. Longer strings, such as API keys, are not shown. */
const SHOWN_LENGTH = 30;

function shown(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number') return String(value);
  if (typeof value === 'string' && value.length <= SHOWN_LENGTH) return JSON.stringify(value);
  return `a value of type ${typeof value}`;
}

/** Reads a plain decimal int64, without a plus sign, leading zeros or spaces. Returns `undefined` for any other text. */
export function parseInt64(text: string): bigint | undefined {
  return DECIMAL.test(text) ? toInt64(BigInt(text)) : undefined;
}

/** Reads an int64 from the source text of a JSON number (RFC 8259, section 6): `5`, `5.0` and `5e0` are all 5n. */
export function parseJsonInt64(source: string): bigint | undefined {
  const [, sign, whole = '', fraction = '', exponent = ''] = JSON_NUMBER.exec(source) ?? [];
  if (sign === undefined) return undefined;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = UP_TO_LAST_NON_ZERO.exec(digits)?.[0];
  if (significant === undefined) return 0n;
  const zeros = Number(exponent) - fraction.length + (digits.length - significant.length);
  // A large exponent, such as in `1e999999`, is refused before a bigint is created.
  if (zeros < 0 || significant.length + zeros > MAX_DIGITS) return undefined;
  return toInt64(BigInt(sign + significant + '0'.repeat(zeros)));
}
