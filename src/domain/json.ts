import { parseJsonInt64 } from './int64.ts';
import { jsonFault } from './json-fault.ts';

/** `JSON.parse` preserves up to 15 significant digits. */
const MAYBE_ROUNDED = /[\d.]{16}|\d[eE]/;

/** `JSON.parse` with a reviver is recursive, so each level of nested arrays and objects needs space on the stack. */
const MAX_DEPTH = 500;

/**
 * Parses JSON without rounding integers. An int64 becomes a `bigint`, or a `number` that is a safe integer. Any other
 * number becomes a `number` that is not an integer, such as 1.5 or NaN. Throws a `RangeError` for a text that is nested
 * too deeply, and a `SyntaxError` with the message of {@link jsonFault} for a text that is not JSON.
 */
export function parseJson(text: string): unknown {
  refuseDeep(text);
  try {
    return MAYBE_ROUNDED.test(text)
      ? JSON.parse(text, exact as (key: string, value: unknown) => unknown)
      : JSON.parse(text);
  } catch {
    throw new SyntaxError(jsonFault(text));
  }
}

/** Only a reviver needs this limit, but it must not depend on the numbers in a text. */
function refuseDeep(text: string): void {
  if (text.length <= MAX_DEPTH) return;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isInString = !isInString;
    else if (isInString) at += character === '\\' ? 1 : 0;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > MAX_DEPTH) throw new RangeError(`nested too deeply: expected at most ${MAX_DEPTH} levels`);
  }
}

/** A reviver. An integer that is no int64 becomes NaN: it is out of range, or a fraction that was rounded. */
function exact(_key: string, value: unknown, context: { source: string }): unknown {
  if (typeof value !== 'number') return value;
  return parseJsonInt64(context.source) ?? (Number.isInteger(value) ? Number.NaN : value);
}
