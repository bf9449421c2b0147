/**
 * Keeps integers exact in Swagger UI, which uses `JSON.parse` and would round integers above 2^53. This module runs in
 * the browser.
 */

/**
 * The prefix of a string that represents a large integer. No string of the API contains U+0000, so the prefix is
 * unambiguous.
 */
const MARK = '\\u0000int64:';
const MARKED = /"\\u0000int64:(-?\d+)"/g;
const MARKED_VALUE = /^\0int64:-?\d+$/;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** Indents JSON without rounding its integers. Throws a `SyntaxError` when the text is not JSON. */
export function formatJson(text: string): string {
  return stringify(JSON.parse(mark(text)));
}

/**
 * Parses the OpenAPI document for Swagger UI. An example that contains a large integer becomes a string of JSON. A
 * `minimum` or `maximum` that is not a safe integer is left out, because a rounded limit would be wrong.
 */
export function parseDocument(text: string): Record<string, unknown> {
  return JSON.parse(mark(text), (key, value) => {
    if (typeof value === 'string' && MARKED_VALUE.test(value))
      return key === 'minimum' || key === 'maximum' ? undefined : value;
    if (key !== 'value' || typeof value !== 'object') return value;
    const shown = stringify(value);
    return shown === JSON.stringify(value, undefined, 2) ? value : shown;
  });
}

function mark(text: string): string {
  return text.replace(TOKEN, (token) =>
    /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${MARK}${token}"` : token,
  );
}

function stringify(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(MARKED, '$1');
}
