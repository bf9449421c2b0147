/** Splits code into parts for syntax highlighting. */

export type Kind = 'string' | 'number' | 'keyword' | 'comment' | 'name';

/** A part of the code. A part without `kind` is shown in the default color. */
export interface Part {
  readonly text: string;
  readonly kind?: Kind;
}

const KEYWORDS =
  'as await break const def defer else except false for from func if import let new nil null package print raise ' +
  'return struct true try type var while with';

const CODE = new RegExp(
  [
    '(?<name>"(?:[^"\\\\\\n]|\\\\.)*"(?=\\s*:))',
    '(?<string>"(?:[^"\\\\\\n]|\\\\.)*"|\'[^\'\\n]*\'|`[^`]*`)',
    '(?<comment>(?<=^|\\s)(?://|#)[^\\n]*)',
    '(?<number>(?<![\\w/:.-])-?\\d[\\d.eE+-]*\\b)',
    `(?<keyword>\\b(?:${KEYWORDS.replaceAll(' ', '|')})\\b)`,
  ].join('|'),
  'gm',
);

/** Splits JSON, or code in one of the sample languages. The joined parts are the unchanged code. */
export function highlight(code: string): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const { 0: text, index, groups = {} } of code.matchAll(CODE)) {
    if (index > end) parts.push({ text: code.slice(end, index) });
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined) as Kind;
    parts.push({ text, kind });
    end = index + text.length;
  }
  if (end < code.length) parts.push({ text: code.slice(end) });
  return parts;
}
