import { parseInt64, parseJsonInt64 } from './int64.ts';
import { scanJson } from './json-scan.ts';

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
    const first = scanJson(text, (start, end, nameStart, nameEnd) => {
      if (nameEnd === nameStart) return;
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
