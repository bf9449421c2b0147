/** Reads and formats JSON without rounding its integers. By itself, `JSON.parse` rounds integers above 2^53. */

/** Marks a string that represents an integer. Strings of the API never contain U+0000, so the mark is unambiguous. */
const MARK = '\\u0000integer:';
const MARKED = /^\0integer:(-?\d+)$/;

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

const INDENT = '  ';

/** Characters that change the order in which a text is shown. */
const REORDERING = /\p{Bidi_Control}/gu;

/** Parses JSON. Every integer becomes a `bigint`. Throws a `SyntaxError` when the text is not JSON. */
export function parseExact(text: string): unknown {
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    /^-?(?:0|[1-9]\d*)$/.test(token) ? `"${MARK}${token}"` : token,
  );
  return JSON.parse(marked, (_key, value) => {
    const digits = typeof value === 'string' ? MARKED.exec(value)?.[1] : undefined;
    return digits === undefined ? value : BigInt(digits);
  });
}

/** Formats a value of {@link parseExact} as JSON on one line. */
export function writeExact(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(writeExact).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${writeExact(member)}`,
  );
  return `{${members.join(',')}}`;
}

/** Indents JSON and keeps the text of every number. Throws a `SyntaxError` when the text is not JSON. */
export function formatJson(text: string): string {
  JSON.parse(text);
  let formatted = '';
  let depth = 0;
  let previous = '';
  const newLine = () => `\n${INDENT.repeat(depth)}`;
  for (const [token] of text.matchAll(TOKEN)) {
    const isEnd = token === '}' || token === ']';
    if (isEnd) depth -= 1;
    if (isEnd ? !isStart(previous) : isStart(previous) || previous === ',') formatted += newLine();
    if (previous === ':') formatted += ' ';
    formatted += token;
    if (isStart(token)) depth += 1;
    previous = token;
  }
  return formatted;
}

/** Escapes characters that would reorder the text. JSON and all sample languages except the shell accept `\uXXXX`. */
export function escapeReordering(text: string): string {
  return text.replace(
    REORDERING,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function isStart(token: string): boolean {
  return token === '{' || token === '[';
}
