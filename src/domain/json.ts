/** JSON with exact int64, in and out (RFC 8259). */

import { parseJsonInt64 } from './int64.ts';
import type { Pet } from './pet.ts';

/** A double shows up to 15 digits as they were; more of them, or an exponent, may have been rounded. */
const MAYBE_ROUNDED = /[\d.]{16}|\d[eE]/;

/** How deep arrays and objects may be nested. The reviver is recursive and needs some stack for each level. */
const MAX_DEPTH = 500;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * Parses JSON in which a number is exact: one whose value is an integer is a safe `number` or an int64 `bigint`, and
 * one that is not is never an integer. Throws a `RangeError` for text that is nested more than 500 levels deep, and a
 * `SyntaxError` for any other text that is not JSON.
 */
export function parseJson(text: string): unknown {
  // Shorter text cannot be that deep, and most bodies are shorter.
  if (text.length > MAX_DEPTH) refuseDeep(text);
  return MAYBE_ROUNDED.test(text)
    ? JSON.parse(text, exact as (key: string, value: unknown) => unknown)
    : JSON.parse(text);
}

/** The limit must not depend on whether the reviver is needed, or another member's digits would decide. */
function refuseDeep(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) at = endOfString(text, at);
    else if (unit === OPENING_BRACKET || unit === OPENING_BRACE) depth += 1;
    else if (unit === CLOSING_BRACKET || unit === CLOSING_BRACE) depth -= 1;
    if (depth > MAX_DEPTH) throw new RangeError(`nested too deeply: expected at most ${MAX_DEPTH} levels`);
  }
}

/** Where the string that starts here ends: at its closing quote, or with the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at;
    if (unit === BACKSLASH) at += 1;
  }
  return text.length;
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
