/** Names in JSON: all parts of Unicode, all ways to write them, and values that are not valid names. */

import type { Random } from '../random.ts';

const MAX_LENGTH = 255;

export interface NameText {
  /** The JSON string, with its quotes. */
  readonly json: string;
  readonly value: string;
  readonly isGood: boolean;
}

/** @param mark makes the name unique */
export function nameText(random: Random, mark: string): NameText {
  const isGood = random.chance(0.7);
  const points = [...mark, ...Array.from({ length: random.below(30) }, () => random.pick(PIECES))];
  if (random.chance(0.2)) lengthen(points, MAX_LENGTH, random);
  if (!isGood) spoil(points, random);
  const value = isGood ? points.slice(0, MAX_LENGTH).join('') : points.join('');
  return { value, isGood, json: `"${[...value].map((point) => written(point, random)).join('')}"` };
}

/** One code point each. */
const PIECES = [
  ...'abcXYZ 019-_.,;:!?<>&%$#@*()[]{}|~^`\'"\\/',
  ...'\u0001\t\n\r\b\f\u001f\u007f\u0080\u0085\u00a0\u00ad\u00e9\u00df\u0130\u0131\u017f\u0300\u0301\u034f\u05d0\u0627\u0661\u0e01',
  ...'\u1100\u200b\u200d\u200e\u202e\u2028\u2029\u2066\u20ac\u3000\u4e2d\uac00\ue000\ufdd0\ufeff\uff21\ufffd\uffff',
  ...'\u{10000}\u{1f600}\u{1f468}\u{1f3fd}\u{e0041}\u{10ffff}',
];

function lengthen(points: string[], length: number, random: Random): void {
  const point = random.pick(['x', '\u00e9', '\u4e2d', '\u{1f600}']);
  while (points.length < length) points.push(point);
}

function spoil(points: string[], random: Random): void {
  switch (random.below(4)) {
    case 0:
      points.length = 0;
      break;
    case 1:
      points.splice(random.below(points.length), 0, '\0');
      break;
    case 2:
      points.splice(random.below(points.length), 0, random.pick(['\ud800', '\udbff', '\udc00', '\udfff']));
      break;
    default:
      lengthen(points, MAX_LENGTH + 1, random);
  }
}

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/** Writes a character unescaped if JSON allows it. Otherwise, and sometimes at random, escapes it. */
function written(point: string, random: Random): string {
  const code = point.codePointAt(0) ?? 0;
  const mustEscape = code < 0x20 || point === '"' || point === '\\' || (code >= 0xd800 && code <= 0xdfff);
  if (!mustEscape && random.chance(0.7)) return point;
  const short = SHORT[point];
  if (short !== undefined && random.chance(0.5)) return short;
  const units = Array.from({ length: point.length }, (_, index) =>
    point.charCodeAt(index).toString(16).padStart(4, '0'),
  );
  return units.map((unit) => `\\u${random.chance(0.5) ? unit.toUpperCase() : unit}`).join('');
}
