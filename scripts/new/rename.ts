/** Replaces the entity and the name of this project in a text or in a path. */

import { articleOf, capitalized, type Names, pascal } from './names.ts';

/**
 * Where a word may begin: behind anything but a letter, behind an escape such as `\n` or `%2F`, and, where it is capitalized,
 * behind a letter in lower case, as in `newPet`.
 */
const START = String.raw`(?<=^|[^A-Za-z]|\\[bfnrtv]|%[0-9A-F]{2})`;
const INNER_START = String.raw`(?<=^|[^A-Z]|\\[bfnrtv]|%[0-9A-F]{2})`;

/**
 * An article before the word, perhaps with a mark or a line break of a comment between them, or in the anchor of a heading.
 * The option `-a` of a command is none.
 */
const ARTICLE = String.raw`(?:(?<article>(?<!-)\b[Aa]n?)(?<gap>(?:[ \t]|\r?\n[ \t]*(?:\*|\/\/|#)?[ \t])[\x60'"*(\[]*)|(?<=[-#])(?<article>an?)(?<gap>-))?`;

const PROJECT = new RegExp(
  `${ARTICLE}(?<word>(?:animal|Animal|ANIMAL)(?<separator>[-_ ]?)(?:store|Store|STORE))(?![a-z])`,
  'g',
);

const ENTITY = new RegExp(
  `${ARTICLE}(?<word>${START}(?:pet|animal)s?(?![a-z])|${INNER_START}(?:Pet|Animal)s?(?![a-z])|${START}(?:PET|ANIMAL)S?(?![A-Za-z]))`,
  'g',
);

/** Names of pets in samples, and others of the same length. */
const SAMPLES: readonly (readonly [RegExp, string])[] = [
  [/(?<![A-Za-z])Rex(?![a-z])/g, 'One'],
  [/Минька 🐈/gu, 'Пример 📦'],
];

/** Returns the text with all spellings of the entity and of the project replaced, and the articles before them corrected. */
export function renameText(text: string, names: Names): string {
  const samples = SAMPLES.reduce((rest, [name, other]) => rest.replaceAll(name, other), text);
  return renameEntity(renameProject(samples, names), names);
}

function renameProject(text: string, { project }: Names): string {
  return replaceWords(text, PROJECT, (word, separator) => spelled(project, word, separator ?? ''));
}

function renameEntity(text: string, { entity, plural }: Names): string {
  return replaceWords(text, ENTITY, (word) => {
    const renamed = /s$/i.test(word) ? plural : entity;
    if (word === word.toUpperCase()) return renamed.toUpperCase();
    return /^[A-Z]/.test(word) ? capitalized(renamed) : renamed;
  });
}

function replaceWords(
  text: string,
  pattern: RegExp,
  replacement: (word: string, separator: string | undefined) => string,
): string {
  return text.replaceAll(pattern, (...match) => {
    const { article, gap = '', word, separator } = match.at(-1) as Readonly<Record<string, string>>;
    const renamed = replacement(word as string, separator);
    if (article === undefined) return renamed;
    const own = articleOf(renamed);
    return (/^A/.test(article) ? capitalized(own) : own) + gap + renamed;
  });
}

/** Spells the parts of a name as `pattern` spells `animal` and `store`. */
function spelled(parts: readonly string[], pattern: string, separator: string): string {
  const join = (each: (part: string) => string): string => parts.map(each).join(separator);
  if (pattern === pattern.toUpperCase()) return join((part) => part.toUpperCase());
  if (pattern === pattern.toLowerCase()) return separator === '' ? parts.join('') : parts.join(separator);
  if (separator !== '') return /^[A-Z]/.test(pattern) ? join(capitalized) : parts.join(separator);
  const name = pascal(parts);
  return /^[A-Z]/.test(pattern) ? name : name.slice(0, 1).toLowerCase() + name.slice(1);
}
