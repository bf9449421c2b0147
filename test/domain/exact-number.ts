import { INT64_MAX, INT64_MIN } from '../../src/domain/int64.ts';

/** The value of a JSON number, computed with bigint. */
export function exactly(source: string): bigint | undefined {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e');
  const [integer = '', fraction = ''] = mantissa.split('.');
  const power = Number(exponent) - fraction.length;
  const unscaled = BigInt((integer + fraction).replace('-', '')) * (source.startsWith('-') ? -1n : 1n);
  const scale = 10n ** BigInt(Math.abs(power));
  if (power < 0 && unscaled % scale !== 0n) return undefined;
  const value = power < 0 ? unscaled / scale : unscaled * scale;
  return value >= INT64_MIN && value <= INT64_MAX ? value : undefined;
}
