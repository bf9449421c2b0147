/** Writes the files of a new project, which differs from this one in the names of its entity and of itself. */

import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { git, trackedFiles } from '../git.ts';
import { isLeftOut, withoutOwn } from './left-out.ts';
import { type Names, pascal } from './names.ts';
import { renameText } from './rename.ts';
import { refusalOf, wordsOf } from './taken.ts';

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

/** Returns the paths of the files that a new project takes over. */
function filesToWrite(): string[] {
  return sourceFiles().filter(
    (path) => !isLeftOut(path) && existsSync(join(ROOT, path)) && lstatSync(join(ROOT, path)).isFile(),
  );
}

/** Returns the files that Git tracks or, in an unpacked archive, that it would track. */
function sourceFiles(): string[] {
  if (existsSync(join(ROOT, '.git'))) return trackedFiles(ROOT);
  const folder = mkdtempSync(join(tmpdir(), 'new-project-'));
  try {
    git(folder, 'init', '--quiet', '--bare', '--template=');
    const list = ['ls-files', '-z', '--others', '--exclude-standard'];
    return git(ROOT, `--git-dir=${folder}`, '--work-tree=.', ...list)
      .split('\0')
      .slice(0, -1);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Throws an `Error` that names each word that is taken. */
export function refuseTakenNames(names: Names): void {
  const files = filesToWrite().map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
  const used = wordsOf(files);
  const own = `${pascal(names.project)}`;
  const faults = [names.entity, names.plural].flatMap((word) => {
    const refusal = refusalOf(word, used);
    return refusal === undefined ? [] : `${word} ${refusal}: choose another word`;
  });
  if ([names.entity, names.plural].some((word) => pascal([word]) === own)) {
    faults.push(`--name ${names.project.join('-')}: expected another name than that of the entity`);
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
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

/** Computes all files, and then writes them into a folder, which is made. Returns their number. */
export function writeProject(target: string, names: Names): number {
  refuseTarget(target);
  const files = filesToWrite().map((path) => {
    const bytes = readFileSync(join(ROOT, path));
    const content = bytes.includes(0) ? bytes : contentOf(path, bytes.toString(), names);
    return { path: renameText(path, names), content, mode: statSync(join(ROOT, path)).mode };
  });
  for (const { path, content, mode } of files) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    writeFileSync(join(target, path), content, { mode, flag: 'wx' });
  }
  return files.length;
}

function contentOf(path: string, text: string, names: Names): string {
  if (path === 'LICENSE') return text;
  if (path === 'CHANGELOG.md') return '# Changelog\n\n## [Unreleased]\n\nThe first version.\n';
  let content = withoutOwn(text, path);
  if (/^package(?:-lock)?\.json$/.test(path)) content = withOwnVersion(content);
  // The image is named after the major version.
  if (/^(?:deploy|docs)\//.test(path))
    content = content
      .replace(/(?<=image\.version=")[\d.]+/, '0.1.0')
      .replace(/(?<=\banimal-store:)3\b/g, '0');
  if (path.endsWith('.ts')) {
    content = content.replace(FIRST_VERSION, '1');
    for (const { number, bytes } of OWN_NUMBERS) {
      content = content.replaceAll(number, (old) => ownNumber(names, bytes, old));
    }
  }
  return renameText(content, names);
}

/** Changes `package.json` and `package-lock.json`. */
function withOwnVersion(text: string): string {
  const about = JSON.parse(text) as About & { packages?: Record<string, About> };
  for (const each of [about, about.packages?.['']]) if (each !== undefined) each.version = '0.1.0';
  delete about.scripts?.['new'];
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
