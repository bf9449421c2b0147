/** JSON with exact int64, in and out (RFC 8259). */

import { parseJsonInt64 } from './int64.ts';
import type { Pet } from './pet.ts';

/** A double shows up to 15 digits as they were; more of them, or an exponent, may have been rounded. */
const MAYBE_ROUNDED = /[\d.]{16}|\d[eE]/;

/**
 * Parses JSON in which a number is exact: one whose value is an integer is a safe `number` or an int64 `bigint`, and
 * one that is not is never an integer. Throws a `SyntaxError` for anything that is no JSON.
 */
export function parseJson(text: string): unknown {
  return MAYBE_ROUNDED.test(text)
    ? JSON.parse(text, exact as (key: string, value: unknown) => unknown)
    : JSON.parse(text);
}

/** A reviver that looks at the text of a number; NaN stands for one that only rounding makes an integer. */
function exact(_key: string, value: unknown, context: { source: string }): unknown {
  if (typeof value !== 'number') return value;
  return parseJsonInt64(context.source) ?? (Number.isInteger(value) ? Number.NaN : value);
}

export function petJson({ id, name, categoryId, status }: Pet): string {
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;
}

export function petsJson(pets: readonly Pet[]): string {
  return `[${pets.map(petJson).join(',')}]`;
}
