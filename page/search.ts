/** Finds the parts of the page that contain all words of a query. */

/** A part of the page that can be found. */
export interface Entry {
  /** The title of the part, such as the name of a parameter. Empty for a paragraph. */
  readonly title: string;
  /** Whether the part is a section. */
  readonly isSection: boolean;
  readonly text: string;
}

/** A part of a text. */
export interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

/** The length of an excerpt, in UTF-16 code units. */
const EXCERPT_LENGTH = 140;
const BEFORE_MATCH = 40;

const NOT_FOUND = 5;

/** Terms of other API references, each with the term that this API uses. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  'page size': 'limit',
  'per page': 'limit',
  offset: 'after',
  pagination: 'next page',
  paging: 'next page',
  sort: 'ascending',
  update: 'change',
  modify: 'change',
  edit: 'change',
  optimistic: 'if-match',
  concurrency: 'if-match',
  locking: 'if-match',
  throttling: 'rate limit',
  quota: 'rate limit',
  duplicate: 'idempotency',
  bigint: 'int64',
  '64 bit': 'int64',
  '64-bit': 'int64',
};

/** Returns the words of a query in lower case. Replaces the terms of other API references with the terms of this API. */
export function wordsOf(query: string): string[] {
  const named = Object.entries(OTHER_NAMES).reduce(
    (text, [other, name]) => text.replaceAll(new RegExp(`(?<![\\w-])${other}s?(?![\\w-])`, 'g'), name),
    singular(query),
  );
  return named.split(/\s+/).filter(Boolean);
}

/** `retries` becomes `retry`, so that a search for either word finds both. */
function singular(text: string): string {
  return text.toLowerCase().replaceAll(/ies\b/g, 'y');
}

/**
 * Returns the entries that contain every word, in this order: entries whose title is the query, sections with the words in the
 * title, entries whose title contains the words and begins with the first one, other entries with the words in the title, and the
 * rest. Of several entries with the same title and text, returns only the first.
 */
export function findEntries<E extends Entry>(entries: readonly E[], words: readonly string[]): E[] {
  if (words.length === 0) return [];
  const rank = ({ title, text, isSection }: E) => {
    if (!has(title, words)) return has(`${title} ${text}`, words) ? 4 : NOT_FOUND;
    if (singular(title) === words.join(' ')) return 0;
    if (isSection) return 1;
    return singular(title).startsWith(words[0] as string) ? 2 : 3;
  };
  const ranks = new Map(entries.map((entry) => [entry, rank(entry)]));
  const rankOf = (entry: E) => ranks.get(entry) ?? NOT_FOUND;
  const found = entries.filter((entry) => rankOf(entry) < NOT_FOUND);
  const unique = new Map(found.toReversed().map((entry) => [`${entry.title}\0${entry.text}`, entry]));
  return found
    .filter((entry) => unique.get(`${entry.title}\0${entry.text}`) === entry)
    .toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Returns the part of a text around the first match, and marks every match. */
export function excerptOf(text: string, words: readonly string[]): Piece[] {
  const patterns = words.map((word) => word.replace(/[^\p{L}\p{N}]/gu, '\\$&').replace(/y$/, '(?:y|ies\\b)'));
  const found = patterns.map((pattern) => text.search(new RegExp(pattern, 'i'))).filter((at) => at >= 0);
  const start = Math.max(Math.min(...found, text.length) - BEFORE_MATCH, 0);
  const end = start + EXCERPT_LENGTH;
  const part = `${start > 0 ? '…' : ''}${text.slice(start, end).trim()}${end < text.length ? '…' : ''}`;
  return part
    .split(new RegExp(`(${patterns.join('|')})`, 'i'))
    .map((piece, index) => ({ text: piece, isMatch: index % 2 === 1 }))
    .filter(({ text: piece }) => piece !== '');
}

function has(text: string, words: readonly string[]): boolean {
  const searched = singular(text);
  return words.every((word) => searched.includes(word));
}
