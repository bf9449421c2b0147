/**
 * For Swagger UI, which reads JSON with `JSON.parse` and so rounds integers beyond 2^53: with this they are shown digit
 * for digit. Runs in the browser.
 */

/** U+0000 cannot be in any text of the API, so nothing else looks like a marked integer. */
const MARK = '\\u0000int64:';
const MARKED = /"\\u0000int64:(-?\d+)"/g;
const MARKED_VALUE = /^\0int64:-?\d+$/;
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** The text with line breaks and indentation, its integers as they were. Throws a `SyntaxError` when it is no JSON. */
export function formatJson(text: string): string {
  return stringify(JSON.parse(mark(text)));
}

/**
 * The OpenAPI document as Swagger UI can take it: an example is text where it holds a large integer, and a bound that
 * a double cannot hold is left out, since a rounded one would be wrong.
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
