/** Numbers in JSON, most of them near the limits of doubles and int64. */

import type { Random } from '../random.ts';

const EDGES = [
  2n ** 63n,
  2n ** 53n,
  2n ** 64n,
  2n ** 31n,
  2n ** 32n,
  10n ** 15n,
  10n ** 16n,
  10n ** 18n,
  10n ** 19n,
];

const NO_NUMBERS =
  '01 +1 .5 5. 1e 1e+ --1 0x10 1_0 NaN Infinity -Infinity 1n 1,5 00 -01 1.e5 1e5.5 - e5 "7" null true [7] {} ٣ ７'.split(
    ' ',
  );

const EXTREMES =
  '1e400 1e-400 -1e999999999 0e999999999 0.0e-99999 -0 -0.0 -0e5 1e18 1e19 9.3e18 9e18 5e-324 1.7976931348623157e308 2.5e1 123456789012345678e1'.split(
    ' ',
  );

/** About two in five are int64 values. */
export function numberText(random: Random): string {
  const roll = random.below(100);
  if (roll < 3) return random.pick(NO_NUMBERS);
  if (roll < 6) return random.pick(EXTREMES);
  const [sign, digits] = integer(random);
  if (roll < 40) return sign + digits;
  if (roll < 80) return sign + shifted(digits, random);
  if (roll < 90)
    return `${sign}${digits}.${'0'.repeat(random.below(20))}${random.pick(['0', '1', '5', '9'])}`;
  return `${sign}${digits}.${random.digits(random.between(1, 20))}${exponent(random.between(-25, 25), random)}`;
}

function integer(random: Random): readonly [sign: string, digits: string] {
  const sign = random.chance(0.4) ? '-' : '';
  switch (random.below(4)) {
    case 0:
      return [sign, String(abs(random.pick(EDGES) + BigInt(random.between(-3, 3))))];
    case 1:
      return [sign, String(abs(random.pick(EDGES) + BigInt(random.between(-5000, 5000))))];
    case 2:
      return [sign, String(random.bigint(random.between(1, 66)))];
    default:
      return [sign, random.digits(random.between(1, 22)).replace(/^0+(?=.)/, '')];
  }
}

/** The same value with the decimal point moved and an exponent that compensates. Sometimes the exponent is off by one. */
function shifted(digits: string, random: Random): string {
  const places = random.below(30);
  const off = random.chance(0.15) ? random.pick([-1, 1]) : 0;
  if (random.chance(0.5)) return `${digits}${'0'.repeat(places)}${exponent(off - places, random)}`;
  const padded = digits.padStart(places + 1, '0');
  const cut = padded.length - places;
  const fraction = places === 0 ? '' : `.${padded.slice(cut)}`;
  return `${padded.slice(0, cut)}${fraction}${exponent(places + off, random)}`;
}

function exponent(value: number, random: Random): string {
  if (value === 0 && random.chance(0.5)) return '';
  const sign = value < 0 ? '-' : random.pick(['', '+']);
  return random.pick(['e', 'E']) + sign + '0'.repeat(random.below(3)) + Math.abs(value);
}

function abs(value: bigint): bigint {
  return value < 0n ? -value : value;
}
