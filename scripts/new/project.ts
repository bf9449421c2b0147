/** Computes and writes the files of a new project. */

import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join, matchesGlob, relative, resolve } from 'node:path';
import type { NamedAttribute } from '../attribute-text.ts';
import { trackedFiles } from '../git.ts';
import { withAttributes } from './attribute-sources.ts';
import { renameFiles } from './collisions.ts';
import { wrapComments } from './comments.ts';
import type { Names } from './names.ts';
import { withOtherNouns } from './nouns.ts';
import { packageFiles } from './package.ts';
import { isOfOtherPart, isSaidOfOthers, isTaken, PARTS, type PartName } from './parts.ts';
import { pruned } from './prune.ts';
import { firstSchema, rulesOf, withoutParts } from './texts.ts';

export const ROOT: string = resolve(import.meta.dirname, '../..');

/**
 * The application id of a SQLite file, and the numbers of the advisory locks in PostgreSQL. A new project has other numbers in its
 * code and its tests, so that it refuses a SQLite file of another project, and does not wait for the locks of another project.
 */
const OWN_NUMBERS: readonly { readonly number: RegExp; readonly bytes: number }[] = [
  { number: /\b(?:0x50455453|1346720851)(?=n?\b)/g, bytes: 4 },
  { number: /\b7301\b/g, bytes: 2 },
];

/** A new project has no older stores, so its schema begins at version 1, which already has the revisions of pets. */
const FIRST_VERSION = /(?<=^(?:export )?const FIRST_VERSION = )\d+/m;

/** A new project has one manual, `run.md`, in place of these manuals. */
const MANUALS = /(?<=docs\/)(?:containers|deploy|serve)(?=\.md)/g;

/** The version of the container image. The first version of the new project replaces it. */
const IMAGE_VERSION = /(?<=image\.version=")[^"]+/;

/**
 * The folder of the files that a new project gets in place of files of this project, or in addition to them. Each path ends with
 * `.txt`, so that no tool reads the file.
 */
const OVERLAY = 'scripts/new/files/';

/** These match what {@link withoutEntries} removes from comments: names of entry points, and examples that import one. */
const ENTRY_NAME = /(?<=^\/\*\*\s+(?:\* )?)(?:The entry point )?`animal-store\/[\w-]+`: (\w)/;
const ENTRY_EXAMPLE = / \*\n \* @example\n \* ```ts\n(?: \* import .*\n)+(?: \*(?! ```).*\n)+ \* ```\n/g;

/** Matches the tests whose expected texts have the attributes of pets. */
const PAGE_OF_PETS = /^test\/page\/(?:reference-page\.test\.ts$|samples\/)/;

/** Matches a passage of a manual that is only for projects with the named part. */
const OF_PART = /<!-- (\w+):(.*?) ?-->/gs;

const MODULE = /\.[cm]?[jt]s$/;

/** Maps the path of each file of a new project to the path of its source file in this project. */
function filesToWrite(parts: readonly PartName[]): Map<string, string> {
  const sources = sourceFiles().filter((path) =>
    lstatSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile(),
  );
  const files = new Map(sources.filter((path) => isTaken(path, parts)).map((path) => [path, path]));
  for (const source of sources.filter((each) => each.startsWith(OVERLAY))) {
    const path = source.slice(OVERLAY.length).replace(/\.txt$/, '');
    const [, manual = ''] = /^docs\/(\w+)\.md$/.exec(path) ?? [];
    // A manual with the name of a part is only for projects with this part. The short page in {@link OVERLAY} is only for projects
    // without `page`.
    const isIn =
      manual in PARTS
        ? (parts as readonly string[]).includes(manual)
        : isOfOtherPart(path, parts) === (path === 'page/index.html');
    if (isIn) files.set(path, source);
  }
  return files;
}

/** Returns the files that Git tracks. Without Git or in an unpacked archive, returns the files that `.gitignore` does not list. */
function sourceFiles(): string[] {
  try {
    if (existsSync(join(ROOT, '.git'))) return trackedFiles(ROOT);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const ignored = readFileSync(join(ROOT, '.gitignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (/\/./.test(line) ? line : `**/${line}`).replace(/\/$/, ''));
  const isSource = (path: string) => path !== '.git' && !ignored.some((each) => matchesGlob(path, each));
  const filesBelow = (folder: string): string[] =>
    readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (!isSource(path)) return [];
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
  return filesBelow('').sort();
}

/**
 * Settings of the server. An environment variable of clients could get the name of one of these: in a project `api`,
 * `ANIMAL_STORE_KEY` would become `API_KEY`.
 */
const SETTINGS = ['API_KEY', 'DATABASE_URL', 'FIRST_KEY', 'PUBLIC_URL'];

/** Throws an `Error` if an imported package has the project's name, or if two environment variables would get the same name. */
export function refuseProjectName({ project }: Names): void {
  const name = project.join('-');
  const text = readFileSync(join(ROOT, 'package.json'), 'utf8');
  const { dependencies, devDependencies, peerDependencies } = JSON.parse(text) as Record<string, object>;
  if (name in { ...dependencies, ...devDependencies, ...peerDependencies } || builtinModules.includes(name))
    throw new Error(`--name ${name}: the project imports a package of this name: choose another one`);
  const setting = SETTINGS.find((each) => each.replace(/_.*/, '').toLowerCase() === name);
  if (setting !== undefined)
    throw new Error(
      `--name ${name}: ${setting} would be both a setting and a variable of clients: choose another name`,
    );
}

/** Throws an `Error` if the target is in this project, or if it exists and is not an empty folder. */
export function refuseTarget(target: string): void {
  const inside = relative(ROOT, realPath(target));
  if (inside === '' || (!inside.startsWith('..') && resolve(inside) !== inside)) {
    throw new Error(`${target}: expected a folder outside this project, such as ../parcels`);
  }
  const found = lstatSync(target, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory()) throw new Error(`${target}: expected a folder, got a file or a link`);
  if (readdirSync(target).length > 0)
    throw new Error(`${target}: the folder is not empty, and nothing is overwritten`);
}

/** Returns the path without symbolic links. The last components of the path need not exist. */
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realPath(dirname(path)), basename(path));
}

/** A file of the new project. */
export interface NewFile {
  readonly path: string;
  readonly content: string | Buffer;
  readonly mode: number;
}

/** Computes all files of the new project. */
export function filesOf(
  names: Names,
  parts: readonly PartName[] = [],
  attributes: readonly NamedAttribute[] = [],
): NewFile[] {
  const sources = filesToWrite(parts);
  if (attributes.length > 0) {
    for (const path of sources.keys()) if (PAGE_OF_PETS.test(path)) sources.delete(path);
  }
  const modeOf = (path: string) => statSync(join(ROOT, sources.get(path) ?? path)).mode;
  const [fixed, texts, modules]: [NewFile[], SourceFile[], Map<string, string>] = [[], [], new Map()];
  for (const [path, source] of sources) {
    if (PACKAGE.includes(path)) continue;
    const content = readFileSync(join(ROOT, source));
    // In the license and in binary files, no names are replaced.
    if (path === 'LICENSE' || content.includes(0)) {
      fixed.push({ path, content, mode: modeOf(path) });
      continue;
    }
    const text = textOf(path, `${content}`, names, parts, attributes);
    if (MODULE.test(path)) modules.set(path, text);
    else texts.push({ path, text });
  }
  const kept = pruned(
    modules,
    (path) => isEntry(path, parts),
    (text) => isSaidOfOthers(text, parts),
  );
  const paths = [...kept.keys(), ...texts.map(({ path }) => path)];
  for (const [path, text] of [...kept, ...texts.splice(0).map(({ path, text }) => [path, text] as const)])
    texts.push({ path, text: rulesOf(path, text, paths) });
  const own = readFileSync(join(ROOT, sources.get('package.json') ?? ''), 'utf8');
  const [about, lock] = PACKAGE.map((path) => JSON.parse(readFileSync(join(ROOT, path), 'utf8')));
  const written = packageFiles(about, JSON.parse(own), lock, kept, parts.includes('library'));
  for (const [index, value] of [written.about, written.lock].entries())
    texts.push({ path: PACKAGE[index] ?? '', text: `${JSON.stringify(value, null, 2)}\n` });
  const modes = texts.map(({ path }) => modeOf(path));
  const renamed = renameFiles(texts, names);
  return [
    ...fixed,
    ...renamed.map(({ path, text }, index) => ({
      path,
      content: MODULE.test(path) ? wrapComments(text) : text,
      mode: modes[index] ?? 0o644,
    })),
  ];
}

const PACKAGE: readonly string[] = ['package.json', 'package-lock.json'];

/** A file of the project: its path below the root, and its text. */
interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Whether a module is in use even if no module imports it. This is so for an entry point, a test, and a module outside of `src`,
 * `openapi`, `page` and `test`.
 */
function isEntry(path: string, parts: readonly PartName[]): boolean {
  if (!/^(?:src|openapi|page|test)\//.test(path)) return true;
  if (/^(?:src\/main|page\/(?:main|.*\.d)|test\/.*\.test)\.ts$/.test(path)) return true;
  const library = /^src\/(?:library\/\w+|testing\/index|adapters\/(?:[\w-]+\/index|http\/fetch))\.ts$/;
  return parts.includes('library') && library.test(path);
}

/** Creates a folder with the files. */
export function writeFiles(target: string, files: readonly NewFile[]): void {
  for (const { path, content, mode } of files) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), content, { mode, flag: 'wx' });
  }
}

/**
 * Converts the text of a file. Later steps remove unused code and replace the names. Replaces the attributes last, so that the
 * other replacements do not change what the user has written.
 */
export function textOf(
  path: string,
  content: string,
  names: Names,
  parts: readonly PartName[],
  attributes: readonly NamedAttribute[],
): string {
  const shown = path.endsWith('.md') ? withTextsOf(parts, content) : content;
  const given = withoutParts(parts.includes('library') ? shown : withoutEntries(shown), parts);
  const own = contentOf(path, firstSchema(path, given), names);
  const text = withOtherNouns(own, path, names.plural.join('-'));
  return attributes.length === 0 ? text : withAttributes(path, text, attributes);
}

function contentOf(path: string, given: string, names: Names): string {
  const text = given.replaceAll(MANUALS, 'run');
  if (!path.endsWith('.ts')) return text.replace(IMAGE_VERSION, '0.1.0');
  return OWN_NUMBERS.reduce(
    (rest, { number, bytes }) => rest.replaceAll(number, (old) => ownNumber(names, bytes, old)),
    text.replace(FIRST_VERSION, '1').replaceAll('> FIRST_VERSION', '>= FIRST_VERSION'),
  );
}

function withTextsOf(parts: readonly string[], manual: string): string {
  return manual.replaceAll(OF_PART, (_, part: string, text: string) => (parts.includes(part) ? text : ''));
}

/** Removes what comments say about entry points, because programs cannot import a project without the part `library`. */
function withoutEntries(text: string): string {
  const named = text.replace(ENTRY_NAME, (_, letter: string) => letter.toUpperCase());
  return named.replaceAll(ENTRY_EXAMPLE, '');
}

/** Returns a number that depends on the name of the project, in the notation of the old number. */
function ownNumber({ project }: Names, bytes: number, old: string): string {
  const hash = createHash('sha256').update(project.join('-')).digest().readUIntBE(0, bytes);
  // SQLite's application id is a signed integer of 32 bits, in which zero means no application.
  const number = (hash % (2 ** (bytes * 8 - 1) - 1)) + 1;
  return old.startsWith('0x') ? `0x${number.toString(16)}` : String(number);
}
