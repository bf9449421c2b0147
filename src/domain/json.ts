import { parseJsonInt64 } from './int64.ts';
import { jsonFault } from './json-fault.ts';

/** Matches a text with a number that `JSON.parse` may round: it preserves up to 15 significant digits. */
const MAYBE_ROUNDED = /[\d.]{16}|\d[eE]/;

/**
 * The maximum depth of nested arrays and objects. `JSON.parse` with a reviver (a callback for each parsed value) is
 * recursive, so each level needs space on the stack.
 */
const MAX_DEPTH = 500;

/**
 * Parses JSON without rounding integers. An int64 becomes a `bigint`, or a `number` that is a safe integer. Any other
 * number becomes a `number` that is not an integer, such as 1.5 or NaN. Throws a `RangeError` when the text has more
 * than 500 levels of nesting, and a `SyntaxError` when the text is not JSON. The message of the error says where the
 * fault is, and contains nothing of the text.
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

/** All texts are checked, although only a reviver needs this limit, so that it does not depend on the numbers in a text. */
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

/**
 * A reviver that reads numbers from their source text. Returns a bigint for an int64. Returns NaN for any other number that
 * `JSON.parse` parsed as an integer: it is out of range, or a fraction that was rounded.
 */
function exact(_key: string, value: unknown, context: { source: string }): unknown {
  if (typeof value !== 'number') return value;
  return parseJsonInt64(context.source) ?? (Number.isInteger(value) ? Number.NaN : value);
}
