/** Replaces the name of the entity and the name of this project in a text or in a path. */

import { articleOf, capitalized, type Names, pascal, uncapitalized } from './names.ts';

/** The spelling of a name of several words: `line item`, `lineItem`, `line_item` or `line-item`. */
export type Style = 'prose' | 'camel' | 'snake' | 'kebab';

/** Identifiers whose regular new name is already used, with the names that they get instead. */
export type Exceptions = ReadonlyMap<string, string>;

/**
 * Where a word may begin: not after a letter, unless the letter ends an escape such as `\n` or `%2F`. A capitalized word may also
 * begin after a lowercase letter, as in `newPet`.
 */
const START = String.raw`(?<=^|[^A-Za-z]|\\[bfnrtv]|%[0-9A-F]{2})`;
const INNER_START = String.raw`(?<=^|[^A-Z]|\\[bfnrtv]|%[0-9A-F]{2})`;

/**
 * An article before the word, in a sentence or in the anchor of a heading. In a sentence, a quotation mark, a bracket, `@link` or
 * the line break of a comment may be between the article and the word. The option `-a` of a command is not an article.
 */
const ARTICLE = String.raw`(?:(?<article>(?<!-)\b[Aa]n?)(?<gap>(?:[ \t]|\r?\n[ \t]*(?:\*|\/\/|#)?[ \t])[\x60'"*(\[]*(?:\{@link )?)|(?<=[-#])(?<article>an?)(?<gap>-))?`;

const PROJECT = `(?<project>(?:animal|Animal|ANIMAL)(?<separator>[-_ ]?)(?:store|Store|STORE))(?![a-z])`;
const ENTITY = `(?<entity>${START}(?:pet|animal)s?(?![a-z])|${INNER_START}(?:Pet|Animal)s?(?![a-z])|${START}(?:PET|ANIMAL)S?(?![A-Za-z]))`;
const NAME = new RegExp(`${ARTICLE}(?:${PROJECT}|${ENTITY})`, 'g');

/** Whether a text has a name of the entity or of the project in it. */
export function isNamed(text: string): boolean {
  return text.search(NAME) >= 0;
}

/** The text before and after a word decides its spelling. The first match wins. */
const STYLES: readonly { readonly before?: RegExp; readonly after?: RegExp; readonly style: Style }[] = [
  { before: /_$/, style: 'snake' },
  { after: /^_/, style: 'snake' },
  { before: /(?<!\\)[A-Za-z0-9$#]$/, style: 'camel' },
  { after: /^[A-Z]/, style: 'camel' },
  { before: /`$/, after: /^\$\{/, style: 'camel' },
  { before: /[A-Za-z0-9}]-$/, style: 'kebab' },
  { after: /^-[A-Za-z0-9$*]/, style: 'kebab' },
  { before: /\/$|\w:$|v1\\+$/, style: 'kebab' },
  { after: /^\/[\w{$<]/, style: 'kebab' },
  { after: /^\\?\.(?:db|example|html|json|ndjson|service|test|ts|tmp|txt)\b/, style: 'kebab' },
  {
    before:
      /\b(?:FROM|INTO|UPDATE|TABLE|JOIN|ON|ONLY|EXISTS|COPY|ANALYZE|VACUUM|TRUNCATE|CO-ROUTINE|SCAN|SEARCH|table|applies to|value in) $|table_info\($/,
    style: 'snake',
  },
  { after: /^(?: has a parent| is UNLOGGED|: run SELECT| USING )/, style: 'snake' },
  { before: /animal-store $/, style: 'kebab' },
  { before: /["'`]$|, $|^$/, after: /^ (?:list|get|create|change|remove)\b/, style: 'kebab' },
  { before: /["'`]$/, after: /^', '(?:list|get|create|change|remove)\b/, style: 'kebab' },
  { before: /(?:\.command\(|\bdatabase: |\btags: \[(?:\{ name: )?)'$/, style: 'kebab' },
  { before: /'pet'(?:,| :) '$|\b(?:keyConflict\(|use: )'$/, style: 'prose' },
  { before: /'$/, after: /^'(?:,| :) 'pets'|^', count\(/, style: 'prose' },
  { after: /^%5f/i, style: 'snake' },
  { before: /\b(?:main|copy)\.$/, style: 'snake' },
  { before: /\.\* $/, style: 'kebab' },
  { before: /[`(\n]$|^$/, after: /^: expected/, style: 'camel' },
  { before: /\b(?:row in|column of|tables) `$/, style: 'snake' },
  { before: /(?:^|[^\w])["'`]$/, after: /^["'`]/, style: 'camel' },
  { before: /@link $/, style: 'camel' },
  { before: /[.\]]$/, style: 'camel' },
  { before: /\{ $/, style: 'camel' },
  { before: /[A-Za-z]\($/, after: /^\)/, style: 'camel' },
  { after: /^(?:\.[a-z]|\(| \})/, style: 'camel' },
  { before: /\b(?:an?|each|every|no|one|the|this) $/, style: 'prose' },
];

/** Returns the text with all spellings of the entity and of the project replaced, and the articles before them corrected. */
export function renameText(
  text: string,
  names: Names,
  otherwise: Style = 'prose',
  exceptions: Exceptions = new Map(),
): string {
  return text.replaceAll(patternOf(exceptions), (match, ...rest) => {
    const groups = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    const { article, gap = '', exception, project, separator = '', entity = '' } = groups;
    const [at, whole] = rest.slice(-3, -1) as [number, string];
    const word = exception ?? project ?? entity;
    const end = at + match.length;
    const start = end - word.length;
    const isType = /^[A-Z]/.test(word) && /[a-z,] $/.test(whole.slice(0, start));
    const found = styleOf(whole.slice(Math.max(0, start - 20), start), whole.slice(end, end + 20), otherwise);
    const style = isType ? 'camel' : (found ?? otherwise);
    let renamed = spelled(/s$/i.test(word) ? names.plural : names.entity, word, style);
    if (project !== undefined) renamed = spelledProject(names.project, project, separator);
    // Only members and exports get the name in `exceptions`. Commands, tables and words of prose get the regular name.
    else if (
      exception !== undefined &&
      (found === 'camel' || !isWord(exception) || /schemas\/$/.test(whole.slice(0, start)))
    )
      renamed = exceptions.get(exception) as string;
    if (article === undefined) return renamed;
    const own = articleOf(renamed);
    return (/^A/.test(article) ? capitalized(own) : own) + gap + renamed;
  });
}

/**
 * An exception matches a whole identifier. An exception of one word matches only in quotes, in a link, or after `schemas/` or
 * `storage.`.
 */
function patternOf(exceptions: Exceptions): RegExp {
  if (exceptions.size === 0) return NAME;
  const words = [...exceptions.keys()].map((each) =>
    isWord(each) ? `(?<=["'\`]|@link |schemas/)${each}(?=["'\`}])|(?<=storage\\.)${each}(?=[':.])` : each,
  );
  const exception = `(?<exception>(?<![\\w$-])(?:${words.join('|')})(?![\\w$-]))`;
  return new RegExp(`${ARTICLE}(?:${exception}|${PROJECT}|${ENTITY})`, 'g');
}

/** Whether an identifier is one word, such as `pets` and `Pet`. */
function isWord(identifier: string): boolean {
  return /^[A-Za-z]?[a-z]+$/.test(identifier);
}

/**
 * Returns the style that the text around a word requires, if any. In a string with SQL, a word after a lowercase word is prose, and
 * any other word names a table or a column, or is a part of the name of a result column. Only the name of a result column can be in
 * camel case.
 */
function styleOf(before: string, after: string, otherwise: Style): Style | undefined {
  if (otherwise === 'snake' && /[a-z] $/.test(before) && !after.startsWith('_')) return 'prose';
  const styles = otherwise === 'snake' ? STYLES.slice(0, 4) : STYLES;
  return styles.find((each) => (each.before?.test(before) ?? true) && (each.after?.test(after) ?? true))
    ?.style;
}

/** Spells words as `pattern` spells `pet`. */
function spelled(words: readonly string[], pattern: string, style: Style): string {
  if (pattern === pattern.toUpperCase()) return words.join('_').toUpperCase();
  const isCapital = /^[A-Z]/.test(pattern);
  if (style === 'camel' || (isCapital && style === 'kebab')) {
    return isCapital ? pascal(words) : uncapitalized(pascal(words));
  }
  const text = words.join({ prose: ' ', snake: '_', kebab: '-' }[style]);
  return isCapital ? capitalized(text) : text;
}

/** Spells the parts of a name as `pattern` spells `animal` and `store`. */
function spelledProject(parts: readonly string[], pattern: string, separator: string): string {
  const join = (each: (part: string) => string): string => parts.map(each).join(separator);
  if (pattern === pattern.toUpperCase()) return join((part) => part.toUpperCase());
  if (pattern === pattern.toLowerCase()) return parts.join(separator);
  if (separator !== '') return /^[A-Z]/.test(pattern) ? join(capitalized) : parts.join(separator);
  return /^[A-Z]/.test(pattern) ? pascal(parts) : uncapitalized(pascal(parts));
}
