/** Writes the files of a new project, which differs from this one in the names of its entity and of itself. */

import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, matchesGlob, relative, resolve } from 'node:path';
import type { NamedAttribute } from '../attribute-text.ts';
import { trackedFiles } from '../git.ts';
import { withAttributes } from './attribute-sources.ts';
import { renameFiles } from './collisions.ts';
import { isLeftOut, withoutLeftOut } from './left-out.ts';
import type { Names } from './names.ts';
import type { PartName } from './parts.ts';

export const ROOT: string = resolve(import.meta.dirname, '../..');

/**
 * Numbers by which a database recognizes this project, wherever code or a test has them: a store of one project is never opened
 * by another one. They are the mark of a SQLite file, and the locks of PostgreSQL.
 */
const OWN_NUMBERS: readonly { readonly number: RegExp; readonly bytes: number }[] = [
  { number: /\b(?:0x50455453|1346720851)(?=n?\b)/g, bytes: 4 },
  { number: /\b7301\b/g, bytes: 2 },
];

/** The schema has no past: no store of another program has the mark of this one. */
const FIRST_VERSION = /(?<=^const FIRST_VERSION = )\d+/m;

/** What a new project has in place of a file of this one, or besides: the path of such a file, and `.txt`, so that no tool reads it. */
const OVERLAY = 'scripts/new/files/';

/** Returns the paths of the files of a new project, each with the path of the file here that has its text. */
function filesToWrite(without: readonly PartName[]): [path: string, source: string][] {
  const sources = sourceFiles().filter((path) =>
    lstatSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile(),
  );
  const pathOf = (source: string) => source.slice(OVERLAY.length).replace(/\.txt$/, '');
  const overlay = sources.filter((source) => source.startsWith(OVERLAY));
  const files = new Map(sources.map((path) => [path, path]));
  for (const source of overlay) files.set(pathOf(source), source);
  return [...files].filter(([path]) => !isLeftOut(path, without));
}

/** Returns the files that Git tracks or, without Git or in an unpacked archive, that it would track. */
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

/** Throws an `Error` if the project cannot have its name: an import of itself would be one of the package. */
export function refuseProjectName({ project }: Names): void {
  const name = project.join('-');
  const text = readFileSync(join(ROOT, 'package.json'), 'utf8');
  const { dependencies, devDependencies, peerDependencies } = JSON.parse(text) as Record<string, object>;
  if (name in { ...dependencies, ...devDependencies, ...peerDependencies } || builtinModules.includes(name))
    throw new Error(`--name ${name}: the project imports a package of this name: choose another one`);
}

/** Throws an `Error` if the folder is in this project, or if it exists and is not empty. */
export function refuseTarget(target: string): void {
  const inside = relative(ROOT, target);
  if (inside === '' || (!inside.startsWith('..') && resolve(inside) !== inside)) {
    throw new Error(`${target}: expected a folder outside this project, such as ../parcels`);
  }
  if (!existsSync(target)) return;
  if (!statSync(target).isDirectory()) throw new Error(`${target}: expected a folder, got a file`);
  if (readdirSync(target).length > 0)
    throw new Error(`${target}: the folder is not empty, and nothing is overwritten`);
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
  without: readonly PartName[] = [],
  attributes: readonly NamedAttribute[] = [],
): NewFile[] {
  const files = filesToWrite(without).map(([path, source]) => {
    const { mode } = statSync(join(ROOT, source));
    return { path, mode, bytes: readFileSync(join(ROOT, source)) };
  });
  // What is not renamed stays as it is, byte by byte.
  const isFixed = ({ path, bytes }: { path: string; bytes: Buffer }) =>
    path === 'LICENSE' || bytes.includes(0);
  const fixed = files.filter(isFixed).map(({ bytes, ...file }) => ({ ...file, content: bytes }));
  const others = files.filter((file) => !isFixed(file));
  const texts = others.map(({ path, bytes }) => ({ path, text: contentOf(path, bytes.toString(), names) }));
  const kept = withoutLeftOut(texts, without).map(({ path, text }) => ({
    path,
    text: attributes.length === 0 ? text : withAttributes(path, text, attributes),
  }));
  const modes = new Map(others.map(({ path, mode }) => [path, mode]));
  const renamed = renameFiles(kept, names);
  return [
    ...fixed,
    ...renamed.map(({ path, text }, index) => ({
      path,
      content: text,
      mode: modes.get(kept[index]?.path ?? '') ?? 0o644,
    })),
  ];
}

/** Writes the files into a folder, which is made. */
export function writeFiles(target: string, files: readonly NewFile[]): void {
  for (const { path, content, mode } of files) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), content, { mode, flag: 'wx' });
  }
}

function contentOf(path: string, text: string, names: Names): string {
  let content = text;
  if (/^package(?:-lock)?\.json$/.test(path)) content = withOwnVersion(content);
  if (path === 'CONTRIBUTING.md') content = content.replace(/; requests in `[^`]*recorded[^`]*`/, '');
  // The image is named after the major version.
  if (/^(?:deploy|docs)\//.test(path))
    content = content.replace(/(?<=image\.version=")[^"]+/, '0.1.0').replace(/(?<=\banimal-store:)3\b/g, '0');
  if (path.endsWith('.ts')) {
    content = content.replace(FIRST_VERSION, '1');
    for (const { number, bytes } of OWN_NUMBERS) {
      content = content.replaceAll(number, (old) => ownNumber(names, bytes, old));
    }
  }
  return content;
}

/** Changes `package.json` and `package-lock.json`. */
function withOwnVersion(text: string): string {
  const about = JSON.parse(text) as About & { packages?: Record<string, About> };
  for (const each of [about, about.packages?.['']]) if (each !== undefined) each.version = '0.1.0';
  delete about.scripts?.['new'];
  // The recorded responses are those of this project.
  const { accept = '' } = about.scripts ?? {};
  if (about.scripts) about.scripts['accept'] = accept.replace(/for P in .*?; done; /, '');
  return `${JSON.stringify(about, null, 2)}\n`;
}

interface About {
  version: string;
  scripts?: Record<string, string>;
}

/** A number that depends on the name of the project, in the notation of the old one. */
function ownNumber({ project }: Names, bytes: number, old: string): string {
  const hash = createHash('sha256').update(project.join('-')).digest().readUIntBE(0, bytes);
  // Both databases store a signed number of 32 bits. Zero would be a file of no program.
  const number = (hash % 2 ** (bytes * 8 - 1)) + 1;
  return old.startsWith('0x') ? `0x${number.toString(16)}` : String(number);
}
