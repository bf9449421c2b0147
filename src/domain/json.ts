/** Reads JSON (RFC 8259) with exact int64 values. `JSON.parse` rounds integers beyond 2^53, and some fractions to integers. */

import { AnimalStoreError, asAnimalStoreError, invalidRequest, isError } from './errors.ts';
import { parseJsonInt64, toInt64 } from './int64.ts';

/** The members of a JSON object, or `undefined` for JSON that is not an object. */
export type Members<Name extends string> = Partial<Record<Name, unknown>> | undefined;

/** In a text without a match, every number is an integer of at most 15 digits, which `JSON.parse` reads exactly. */
const MAY_BE_ROUNDED = /\d[.eE]|\d{16}/;
/** `JSON.parse` limits the nesting depth only with a reviver, so a text with this many opening brackets needs a reviver. */
const BRACKETS = 1000;

/**
 * Parses JSON, and keeps every int64 exact. {@link readMembers} reads the members of an object. If several members have the same
 * name, the last one counts. Throws `invalid_request` for text that is not JSON. Unlike the messages of JavaScript engines, the
 * message contains no part of the text, because the text can contain a secret.
 */
export function parseJson(text: string): unknown {
  try {
    const needsReviver = MAY_BE_ROUNDED.test(text) || text.split(/[[{]/).length > BRACKETS;
    return JSON.parse(text, needsReviver ? withExactNumber : undefined);
  } catch (error) {
    const reason = isError(error) && error.name === 'RangeError' ? ': it is nested too deeply' : '';
    throw asAnimalStoreError(error) ?? invalidRequest(`invalid JSON${reason}`);
  }
}

/** Replaces a number by a `bigint`, or by NaN if it is not an int64. Throws if `context` has no source text. */
function withExactNumber(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number') return value;
  if (context?.source === undefined) {
    const message = 'this JavaScript engine cannot read fractions and long numbers in JSON exactly';
    throw new AnimalStoreError('internal_error', message);
  }
  return parseJsonInt64(context.source) ?? Number.NaN;
}

/**
 * Returns the named members of a value from {@link parseJson}. In the result, an int64 is a `bigint`, and any other
 * number is NaN.
 */
export function readMembers<Name extends string>(value: unknown, names: readonly Name[]): Members<Name> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const members: Members<Name> = {};
  for (const name of names) {
    if (!Object.hasOwn(value, name)) continue;
    const member = (value as Record<Name, unknown>)[name];
    members[name] = typeof member === 'number' ? (toInt64(member) ?? Number.NaN) : member;
  }
  return members;
}
