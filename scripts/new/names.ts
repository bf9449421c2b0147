/** The names of a new project: what its entity and the project itself are called, in every spelling. */

/** What a user asks for. */
export interface Request {
  readonly entity: string;
  readonly plural?: string | undefined;
  readonly name?: string | undefined;
}

/** The words of the new project, in lower case: the entity, its plural, and the parts of the project's name. */
export interface Names {
  readonly entity: string;
  readonly plural: string;
  readonly project: readonly string[];
}

const WORD = /^[a-z]{2,30}$/;
const PROJECT = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const PROJECT_LENGTH_MAX = 40;

/** The plural of such a word is not the word and an s. */
const IRREGULAR = /(?:[sxzy]|ch|sh)$/;

/** Returns the names that a request stands for. Throws an `Error` whose message says what is wrong and what to do. */
export function namesOf({ entity, plural, name }: Request): Names {
  if (!WORD.test(entity)) {
    throw new Error(
      `--entity: expected one word of 2 to 30 letters from a to z, such as parcel, got '${entity}'`,
    );
  }
  if (plural === undefined && IRREGULAR.test(entity)) {
    throw new Error(
      `--entity ${entity}: its plural is not certain: add --plural, such as --plural ${entity}es`,
    );
  }
  const words: string = plural ?? `${entity}s`;
  if (!WORD.test(words)) {
    throw new Error(`--plural: expected one word of 2 to 30 letters from a to z, got '${words}'`);
  }
  if (words === entity)
    throw new Error(`--plural: expected another word than ${entity}: paths and folders need both`);
  const project = name ?? `${entity}-store`;
  if (!PROJECT.test(project) || project.length > PROJECT_LENGTH_MAX) {
    throw new Error(
      `--name: expected a package name of at most ${PROJECT_LENGTH_MAX} characters such as parcel-store, got '${project}'`,
    );
  }
  return { entity, plural: words, project: project.split('-') };
}

export function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

export function pascal(words: readonly string[]): string {
  return words.map(capitalized).join('');
}

/** The article of a word in English, by its first letters. */
export function articleOf(word: string): 'a' | 'an' {
  const start = word.toLowerCase();
  if (/^(?:uni(?!n)|us[aeiu]|ur[aeiou]|ut[ei]|eu|ewe|one\b|once)/.test(start)) return 'a';
  return /^(?:[aeiou]|hour|heir|honest|honou?r)/.test(start) ? 'an' : 'a';
}
