const PUNCTUATION = '{}[]:,';
const WHITE_SPACE = /[ \t\n\r]*/y;
const STRING_OR_LITERAL =
  /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*"|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;

/** The first characters of a value, where `0` stands for numbers, `true`, `false` and `null`. */
const VALUE = '{["0';

/** Says where the first fault is, or returns `undefined` for JSON (RFC 8259). JavaScript engines show a part of the text. */
export function jsonFault(text: string): string | undefined {
  const ends: string[] = [];
  let allowed = VALUE;
  for (let at = endOf(WHITE_SPACE, text, 0); at < text.length; ) {
    const first = text.charAt(at);
    const isPunctuation = PUNCTUATION.includes(first);
    const end = isPunctuation ? at + 1 : endOf(STRING_OR_LITERAL, text, at);
    const kind = isPunctuation || first === '"' ? first : '0';
    if (end === at || !allowed.includes(kind)) return `unexpected text at ${positionOf(text, at)}`;
    allowed = allowedAfter(kind, allowed, ends);
    at = endOf(WHITE_SPACE, text, end);
  }
  return allowed === '' ? undefined : 'unexpected end';
}

/** @param ends the closing brackets of the arrays and objects around the token; this function updates them */
function allowedAfter(kind: string, allowed: string, ends: string[]): string {
  switch (kind) {
    case '{':
      ends.push('}');
      return '"}';
    case '[':
      ends.push(']');
      return '{["0]';
    case ',':
      return ends.at(-1) === '}' ? '"' : VALUE;
    case ':':
      return VALUE;
    case '"':
      // A string is the name of a member where no number is allowed.
      if (!allowed.includes('0')) return ':';
      break;
    case '}':
    case ']':
      ends.pop();
  }
  return ends.length === 0 ? '' : `,${ends.at(-1)}`;
}

/** Returns the index after the match of a sticky expression, or `at` if there is no match. */
function endOf(expression: RegExp, text: string, at: number): number {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : at;
}

function positionOf(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n');
  const character = `character ${(lines.at(-1) as string).length + 1}`;
  return lines.length === 1 ? character : `line ${lines.length}, ${character}`;
}
