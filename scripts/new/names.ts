/** Derives and checks the names of a new project: the name of its entity, and the name of the project itself. */

/** The names that the user gives. */
export interface Request {
  readonly entity: string;
  readonly plural?: string | undefined;
  readonly name?: string | undefined;
}

/** The words of each name, in lower case. A name can have several words, such as `line` and `item`. */
export interface Names {
  readonly entity: readonly string[];
  readonly plural: readonly string[];
  readonly project: readonly string[];
}

const WORDS = /^[a-z]{2,30}(?:[ -][a-z]{2,30}){0,2}$/;
/**
 * The maximum length of the entity's name and of its plural. Leaves room within {@link SQL_NAME_LENGTH_MAX} for suffixes, as in
 * the name of the sequence `pets_id_seq`.
 */
const LENGTH_MAX = 50;
/** PostgreSQL cuts off longer names. */
export const SQL_NAME_LENGTH_MAX = 63;
const PROJECT = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
/** The system user of the service has the name of the project, and Debian limits user names to this length. */
const PROJECT_LENGTH_MAX = 32;

/** Words whose plural follows no rule. */
const IRREGULAR: Readonly<Record<string, string>> = {
  foot: 'feet',
  goose: 'geese',
  mouse: 'mice',
  person: 'people',
  quiz: 'quizzes',
  tooth: 'teeth',
};
const SAME = /^(?:aircraft|deer|equipment|fish|information|money|news|series|sheep|software|species|staff)$/;
const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/(lea|loa|kni|wi|li|thie|hal|cal|el|wol|scar)fe?$/, '$1ves'],
  [/([^aeiou])y$/, '$1ies'],
  [/sis$/, 'ses'],
  [/(?<!^(?:hu|ger|ro|sha|talis|otto))man$/, 'men'],
  [/child$/, 'children'],
  [/([sxz]|sh|(?<!epo|stoma|[gin]ar)ch|potato|tomato|hero|echo|veto)$/, '$1es'],
  [/$/, 's'],
];

/** Names that are refused, because they already have a meaning in each project. */
const REFUSED: Readonly<Record<string, string>> = {
  'api key': 'the keys that callers have are called so',
  constructor: 'each object of JavaScript has this property',
  'idempotency record': 'a table of each store has this name',
  key: 'the keys that callers have are called so',
  prototype: 'each class of JavaScript has this property',
};
for (const name of ['after', 'cursor', 'etag', 'id', 'limit', 'removed']) {
  Object.assign(REFUSED, { [name]: 'requests and responses have a member or parameter of this name' });
}
for (const name of ['false', 'null', 'true', 'undefined'])
  Object.assign(REFUSED, { [name]: 'JavaScript has a value of this name' });
/** Words of SQL, in camel case like the names of attributes. A table or column with such a name may have to be quoted. */
export const SQL_WORDS =
  'abort add all alter always analyse analyze and any array as asc asymmetric attach authorization before begin between binary both by cascade case cast check collate collation column commit concurrently conflict constraint create cross current currentCatalog currentDate currentRole currentSchema currentTime currentTimestamp currentUser database default deferrable deferred delete desc detach distinct do drop each else end escape except exclusive exists explain fail false fetch filter for foreign freeze from full glob grant group having if ignore ilike immediate in index indexed initially inner insert instead intersect into is isnull join key lateral leading left like localtime localtimestamp match materialized natural not nothing notnull null of offset on only or order outer over overlaps placing plan pragma primary query raise recursive references regexp reindex release rename replace restrict returning right rollback row rowid savepoint select sessionUser similar some symmetric systemUser table tablesample temp temporary then to trailing transaction trigger true union unique update user using vacuum values variadic verbose view virtual when where window with without';

/** Plurals that are refused, in camel case like {@link SQL_WORDS}: the plural is the name of a table and of a command. */
const REFUSED_PLURALS: Readonly<Record<string, string>> = {
  'SQL reserves this word': `${SQL_WORDS} columns nulls others rows ties`,
  'another command has this name': 'backup completion doctor export help import keys openapi restore serve',
};
const OWN_TABLES = ['apiKeys', 'epoch', 'idempotencyRecords', 'probe', 'staged'];

/** Derives all names from those that the user gives. Throws an `Error` whose message says what is wrong and what to do. */
export function namesOf(request: Request): Names {
  const entity = wordsOf('--entity', request.entity);
  const plural = request.plural === undefined ? pluralOf(entity) : wordsOf('--plural', request.plural);
  const name = request.name ?? `${entity.join('-')}-store`;
  if (!PROJECT.test(name) || name.length > PROJECT_LENGTH_MAX) {
    const expected = `a package name of at most ${PROJECT_LENGTH_MAX} characters such as parcel-store`;
    const given = request.name === undefined ? 'the default ' : '';
    throw new Error(`--name: expected ${expected}, got ${given}'${name}'`);
  }
  const names = { entity, plural, project: name.split('-') };
  refusePlural(names, request.plural !== undefined);
  return names;
}

function refusePlural({ entity, plural, project }: Names, isGiven: boolean): void {
  const [name, tables] = [
    camel(plural),
    [...OWN_TABLES, camel([...entity, 'revisions']), camel([...project, 'schema'])],
  ];
  const [found] = Object.entries(REFUSED_PLURALS).find(([, names]) => names.split(' ').includes(name)) ?? [];
  const reason = tables.includes(name) ? 'each store has a table of this name' : found;
  if (reason === undefined) return;
  const text = `'${plural.join(' ')}': ${reason}: choose another plural`;
  throw new Error(
    isGiven ? `--plural ${text}` : `--entity '${entity.join(' ')}' has the plural ${text} with --plural`,
  );
}

function wordsOf(option: string, text: string): readonly string[] {
  if (!WORDS.test(text) || text.length > LENGTH_MAX) {
    throw new Error(
      `${option}: expected one to three words of 2 to 30 letters from a to z, at most 50 in all, such as parcel or 'line item', got '${text}'`,
    );
  }
  const words = text.split(/[ -]/);
  const known = Object.hasOwn(REFUSED, words.join(' ')) ? REFUSED[words.join(' ')] : undefined;
  const reason = /^(?:pg|sqlite)\b/.test(text) ? 'databases reserve names that begin so' : known;
  if (reason !== undefined) throw new Error(`${option} '${text}': ${reason}: choose another word`);
  return words;
}

/** Tells the user what one record and several records are called. Adds a hint if the entity's name may be a plural. */
export function nounsText(names: Names): string {
  const [entity, plural] = [names.entity.join(' '), names.plural.join(' ')];
  const hint = entity !== plural && /[^isu]s$/.test(entity);
  return `One record is called ${entity}, several are called ${plural}: --plural changes it.${hint ? ` If ${entity} is a plural, give --entity the singular.` : ''}`;
}

/** Returns the words with the English plural of the last word. */
export function pluralOf(words: readonly string[]): readonly string[] {
  const last = words.at(-1) ?? '';
  return [...words.slice(0, -1), pluralOfWord(last)];
}

function pluralOfWord(word: string): string {
  const irregular = Object.hasOwn(IRREGULAR, word) ? IRREGULAR[word] : undefined;
  if (irregular !== undefined) return irregular;
  if (SAME.test(word)) return word;
  const [ending, plural] = ENDINGS.find(([each]) => each.test(word)) ?? [/$/, 's'];
  return word.replace(ending, plural);
}

export function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

export function uncapitalized(word: string): string {
  return word.slice(0, 1).toLowerCase() + word.slice(1);
}

export function pascal(words: readonly string[]): string {
  return words.map(capitalized).join('');
}

export function camel(words: readonly string[]): string {
  return uncapitalized(pascal(words));
}

/** Returns the English article of a word, which depends on its first letters. */
export function articleOf(word: string): 'a' | 'an' {
  const start = word.toLowerCase();
  if (/^(?:ui\b|uni(?!n|dent|m[ap])|us[abeiu]|ur[aeiou]|url|ut[cei]|uuid|eu|ewe|one\b|once)/.test(start))
    return 'a';
  // Abbreviations that are read letter by letter, such as SMS and MRI, can begin with a vowel sound as well.
  const spelled = /^(?:[fhlmnrsx][^aeiouy]*\b|[hn][^aeiouy]|[lmr][^aeiouhlny]|f[^aeioulry])/;
  return /^(?:[aeiou]|hour|heir|honest|honou?r)/.test(start) || spelled.test(start) ? 'an' : 'a';
}
