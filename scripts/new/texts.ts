/** Replaces texts of this project that would not be true in a new one. */

import { matchesGlob } from 'node:path';
import type { PartName } from './parts.ts';

type Edit = readonly [place: RegExp, text: string];

/** The edits of texts about a part, for a new project without this part. */
const WITHOUT: Partial<Record<PartName, readonly Edit[]>> = {
  page: [
    [/Reference page(?=: )/g, 'API description'],
    [/its reference(?= at \/docs)/g, 'its description'],
    [/\breference page\b/g, 'page at /docs'],
  ],
  postgresql: [
    [/\|(?:adapters\/)?postgres\/url/g, ''],
    [/(?<=^After=network\.target) postgresql\.service/gm, ''],
    [/(?<=^# Only this machine\.) A database server .*/gm, ''],
    [
      /^ {2}add\(Gauge, \['database_connections'.*\n.*\n {2}\);\n {2}gauge\('database_waiting_calls'.*\n/gm,
      '',
    ],
    [/^ {2}postgres: \['database_waiting_calls.*\n/gm, ''],
    [/^ {2}readonly connections\?: ConnectionStatistics.*\n/gm, ''],
    [/^ +connections: \{ busy: 1, idle: 2, waiting: 5 \},\n/gm, ''],
    [/^ +'?animal_store_database_(?:connections\{state="\w+"\}'|waiting_calls): \d,\n/gm, ''],
    [/, connections: \{ busy: 0, idle: 0, waiting: 0 \}/g, ''],
  ],
  transfer: [
    [
      /(?:`\$\{(idsExhausted\(\)\.message)\})?: export the pets, and import them without their ids into a new store`?/g,
      '$1',
    ],
    [/^ {2}(?:export|import): '[\w ]+',\n/gm, ''],
  ],
};

/** The edits of texts about what only this project has: the benchmark, and environment variables of older releases. */
const ABOUT_OWN: readonly Edit[] = [
  [/ bench\/README\.md has the figures\./g, ''],
  [/(?<=\()bench\|/g, ''],
  [/^ \* @param gone .*\n|^ {2}gone: .* = \{\},\n|(?<=readSettings\(SETTINGS, .*), \{ \.\.\.GONE \}/gm, ''],
  [/(?<=^ {2}const faults) = Object\.entries\(gone\)[^;]*;/gm, ': string[] = [];'],
  [/^test\('a variable that only older releases had .*\n(?: .*\n)+\}\);\n\n/gm, ''],
];

export function withoutParts(text: string, parts: readonly PartName[]): string {
  const edits = Object.entries(WITHOUT).filter(([part]) => !(parts as readonly string[]).includes(part));
  return edits
    .flatMap(([, each]) => each)
    .concat(ABOUT_OWN)
    .reduce((rest, [place, other]) => rest.replaceAll(place, other), text);
}

/** Returns the text of `schema.ts` with one migration, because a new project has no store that an older release has made. */
export function firstSchema(path: string, text: string): string {
  const [, database] = /^src\/adapters\/(sqlite|postgres)\/schema\.ts$/.exec(path) ?? [];
  if (database === undefined) return text;
  const type = database === 'sqlite' ? 'TEXT' : 'text';
  const edits: readonly Edit[] = [
    [
      /(?<=(?:valid_until INTEGER|ends_at bigint) NOT NULL,)(\s+)(?=PRIMARY KEY)/,
      `$1request ${type},$1response ${type},$1`,
    ],
    [/\n(?:\n {2}ALTER TABLE idempotency_records [^;]*;)+|\n {2}ALTER TABLE idempotency_records [^;]*;/, ''],
    [
      / The revision is not a\n \* column of `pets`:[\s\S]*?nor response\. ?/,
      database === 'sqlite' ? '' : '\n * ',
    ],
    [
      /\[FIRST_VERSION, TABLES\],\n {2}\[FIRST_VERSION \+ 1, CHANGES\]/,
      "[FIRST_VERSION, [TABLES, CHANGES].join(';')]",
    ],
  ];
  return edits.reduce((source, [place, other]) => {
    if (source.search(place) < 0) throw new Error(`${path}: nothing matches ${place}`);
    return source.replace(place, other);
  }, text);
}

/** From the settings of the tools that check code and imports, removes the entries and rules that match no file. */
export function rulesOf(path: string, text: string, paths: readonly string[]): string {
  const isAny = (pattern: RegExp) => paths.some((each) => pattern.test(each));
  if (path === 'knip.json')
    return text.replaceAll(/^ {4}"([^"]+)",\n/gm, (line, glob: string) =>
      paths.some((each) => matchesGlob(each, glob)) ? line : '',
    );
  if (path !== '.dependency-cruiser.mjs') return text;
  const isAdapter = (name: string) => isAny(new RegExp(`^src/adapters/${name}/`));
  return text
    .replaceAll(/^ {2}'?([a-z-]+)'?: \[.*\],\n/gm, (line, name: string) => (isAdapter(name) ? line : ''))
    .replace(/(?<=^const STORAGES = '.*\().*(?=\))/m, (names) => names.split('|').filter(isAdapter).join('|'))
    .replaceAll(
      /^ {4}forbidden\(\n(?: {6}.*\n)+? {6}\{ path: (?:'([^']+)'|(PAGE))[\s\S]*?^ {4}\),\n/gm,
      (rule, from = '^page/.*ts$') => (isAny(new RegExp(from.replaceAll('\\\\', '\\'))) ? rule : ''),
    );
}
