import { parseInt64, parseJsonInt64 } from './int64.ts';

/** Stands for an array or an object, whose items no caller reads. */
const ITEMS: unknown = Object.freeze({});

/** The members of a JSON object, or `undefined` for JSON that is not an object. */
export type Members<Name extends string> = Partial<Record<Name, unknown>> | undefined;

/**
 * Creates a function that reads these members of a JSON object, and creates no values of others. If a name occurs several
 * times, its last value counts. An int64 becomes a `bigint`, and any other number becomes NaN. The function throws the errors
 * of {@link scanJson}.
 *
 * @param names in letters
 */
export function memberReader<Name extends string>(names: readonly Name[]): (text: string) => Members<Name> {
  const patterns = names.map(patternOf);
  return (text) => {
    const starts: number[] = [];
    const ends: number[] = [];
    const first = scanJson(text, (start, end, nameStart) => {
      if (nameStart === start) return;
      for (let index = 0; index < patterns.length; index += 1) {
        const pattern = patterns[index] as RegExp;
        pattern.lastIndex = nameStart;
        if (!pattern.test(text)) continue;
        starts[index] = start;
        ends[index] = end;
        return;
      }
    });
    if (first !== '{') return undefined;
    const members: Members<Name> = {};
    names.forEach((name, index) => {
      if (index in starts) members[name] = valueIn(text.slice(starts[index], ends[index]));
    });
    return members;
  };
}

/** Returns the text of each item of a JSON array, or `undefined` for other JSON. Throws the errors of {@link scanJson}. */
export function itemTexts(text: string): readonly string[] | undefined {
  const items: string[] = [];
  const first = scanJson(text, (start, end) => items.push(text.slice(start, end)));
  return first === '[' ? items : undefined;
}

/** Returns a pattern of the quoted name, each letter of which can be an escape sequence. */
function patternOf(name: string): RegExp {
  const letters = name.replaceAll(/./g, (letter) => {
    const digits = letter.charCodeAt(0).toString(16).padStart(4, '0');
    return `(?:${letter}|\\\\u${digits.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)})`;
  });
  return new RegExp(`"${letters}"`, 'y');
}

function valueIn(source: string): unknown {
  switch (source.charAt(0)) {
    case '{':
    case '[':
      return ITEMS;
    // Unlike `slice`, `JSON.parse` copies the characters, so that a short string does not keep the whole text in memory.
    case '"':
    case 't':
    case 'f':
    case 'n':
      return JSON.parse(source);
    default:
      return parseInt64(source) ?? parseJsonInt64(source) ?? Number.NaN;
  }
}

/** The maximum number of levels of nested arrays and objects. */
const MAX_DEPTH = 500;

/**
 * Called for each item of the outermost array or object, with the indices where its value starts and ends, and where its
 * quoted name starts. An item of an array has no name, and starts with its value.
 */
export type OnItem = (start: number, end: number, nameStart: number) => void;

/**
 * Validates JSON (RFC 8259), and returns the first character of the value, which tells its type. It creates no values, so
 * the time depends on the length of the text alone. Throws a `RangeError` for a text that is nested too deeply, and
 * otherwise a `SyntaxError` that says where the first fault is. The messages of JavaScript engines show a part of the text.
 */
export function scanJson(text: string, onItem: OnItem): string {
  /** The closing brackets of the arrays and objects around the position. */
  const brackets: number[] = [];
  let at = endOfSpace(text, 0);
  const first = text.charAt(at);
  let nameStart = at;
  let start = at;
  for (;;) {
    // Here begins a value, or a member of an object.
    const depth = brackets.length;
    if (depth === 1) nameStart = at;
    if (brackets[depth - 1] === CLOSE_OBJECT) {
      at = endOfSpace(text, endOfString(text, at));
      if (text.charCodeAt(at) !== COLON) throw faultAt(text, at);
      at = endOfSpace(text, at + 1);
    }
    if (depth === 1) start = at;
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      if (depth === MAX_DEPTH)
        throw new RangeError(`nested too deeply: expected at most ${MAX_DEPTH} levels`);
      const bracket = code + FROM_OPEN_TO_CLOSE;
      at = endOfSpace(text, at + 1);
      if (text.charCodeAt(at) !== bracket) {
        brackets.push(bracket);
        continue;
      }
      at += 1;
    } else {
      at = code === QUOTE ? endOfString(text, at) : endOfNumberOrLiteral(text, at);
    }
    // Here ends a value. After its closing bracket, the array or object around it ends too.
    for (;;) {
      if (brackets.length === 1) onItem(start, at, nameStart);
      at = endOfSpace(text, at);
      if (brackets.length === 0) {
        if (at < text.length) throw faultAt(text, at);
        return first;
      }
      const next = text.charCodeAt(at);
      if (next !== COMMA && next !== brackets.at(-1)) throw faultAt(text, at);
      at += 1;
      if (next === COMMA) break;
      brackets.pop();
    }
    at = endOfSpace(text, at);
  }
}

const TAB = 0x09;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const LOWER_E = 0x65;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const FROM_OPEN_TO_CLOSE: number = CLOSE_OBJECT - OPEN_OBJECT;

const LITERALS: readonly string[] = ['true', 'false', 'null'];

/** The characters that can follow a number or a literal. After any other one, the whole token is at fault. */
const TOKEN_END = /[^\w.+-]|$/y;

const HEXADECIMAL = /^[\da-f]{4}$/i;

function endOfSpace(text: string, start: number): number {
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== SPACE && code !== LINE_FEED && code !== RETURN && code !== TAB) return at;
    at += 1;
  }
}

function endOfString(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) throw faultAt(text, start);
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < SPACE) break;
    if (code !== BACKSLASH) continue;
    at += 1;
    const escaped = text.charAt(at);
    if (escaped === 'u' && HEXADECIMAL.test(text.slice(at + 1, at + 5))) at += 4;
    else if (!'"\\/bfnrt'.includes(escaped)) break;
  }
  throw faultAt(text, start);
}

function endOfNumberOrLiteral(text: string, start: number): number {
  const literal = LITERALS.find((each) => text.startsWith(each, start));
  const end = literal === undefined ? endOfNumber(text, start) : start + literal.length;
  if (text.charCodeAt(end) === COMMA) return end;
  TOKEN_END.lastIndex = end;
  if (!TOKEN_END.test(text)) throw faultAt(text, start);
  return end;
}

function endOfNumber(text: string, start: number): number {
  let at = text.charCodeAt(start) === MINUS ? start + 1 : start;
  at = text.charCodeAt(at) === ZERO ? at + 1 : endOfDigits(text, at, start);
  if (text.charCodeAt(at) === POINT) at = endOfDigits(text, at + 1, start);
  const letter = text.charCodeAt(at);
  if (letter !== LOWER_E && letter !== UPPER_E) return at;
  const sign = text.charCodeAt(at + 1);
  return endOfDigits(text, sign === PLUS || sign === MINUS ? at + 2 : at + 1, start);
}

/** @param token where the number starts */
function endOfDigits(text: string, start: number, token: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at += 1;
  if (at === start) throw faultAt(text, token);
  return at;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

function faultAt(text: string, at: number): SyntaxError {
  if (at >= text.length) return new SyntaxError('unexpected end');
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const character = `character ${at - lineStart + 1}`;
  let line = 1;
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) line += 1;
  return new SyntaxError(`unexpected text at ${line === 1 ? character : `line ${line}, ${character}`}`);
}
