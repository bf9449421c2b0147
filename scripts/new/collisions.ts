/** Renames the entity and the project in all files at once, so that no new name collides with another name in its scope. */

import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { type Identifiers, identifiersOf } from './identifiers.ts';
import { type Names, pluralOf } from './names.ts';
import { type Exceptions, isNamed, renameText, type Style } from './rename.ts';

/** A file of the project: its path below the root, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

interface Source extends Identifiers {
  readonly path: string;
  readonly text: string;
  /** The names that are already used in the file. */
  readonly taken: Set<string>;
}

type NameMap = Map<string, string>;

interface Change {
  readonly names: Names;
  readonly shared: NameMap;
  readonly exceptions: Exceptions;
  /** Files whose regular new path is already used, with the paths that they get instead. */
  readonly moved: NameMap;
}

const SCRIPT = /\.[cm]?[jt]s$/;
const OTHER_LANGUAGE = /\.(?:go|py|sh|lua|c)$/;
const CODE_BLOCK = /(?<=^```(?:ts|js)\n).*?(?=^```$)/gms;
const DATABASE = /(?:^|\/)(?:sqlite|postgres)\//;

/** Returns the files with their new names and texts. */
export function renameFiles(files: readonly SourceFile[], names: Names): SourceFile[] {
  const candidates = candidatesOf(names);
  const paths = renamePaths(files, candidates);
  const sources = new Map(files.flatMap((file) => sourcesOf(file).map((source) => [source.path, source])));
  const { shared, exported } = sharedNames([...sources.values()], candidates);
  const change: Change = {
    names,
    shared,
    exceptions: new Map([...shared].filter(([name, renamed]) => renamed !== spelled(name, names))),
    moved: new Map([...paths].filter(([path, renamed]) => renamed !== renameText(path, names, 'kebab'))),
  };
  const rename = (source: Source): string =>
    renameSource(source, localNames(source, shared, exported, candidates), change);
  return files.map((file) => {
    const path = paths.get(file.path) ?? file.path;
    const source = sources.get(file.path);
    if (source !== undefined) return { path, text: rename(source) };
    let end = 0;
    let text = '';
    for (const block of codeBlocks(file)) {
      text += renamePart(file, end, block.start, change) + rename(sources.get(block.path) as Source);
      end = block.start + block.text.length;
    }
    text += renamePart(file, end, file.text.length, change);
    return { path, text: path.startsWith('test/page/samples/Go') ? aligned(text) : text };
  });
}

/** Aligns the members of each Go type in a sample that a test expects, as gofmt and the reference page do. */
function aligned(text: string): string {
  return text.replaceAll(/(?:^\t\w+ +\S+ +`json.*\n)+/gm, (block) => {
    const rows = block
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(/ +/));
    const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
    const pad = (cell: string, column: number) => cell.padEnd(widths[column] ?? 0);
    return rows.map((row) => `\t${row.map(pad).join(' ')}\n`).join('');
  });
}

/** Returns the regular names first, then the alternatives for places where the regular names are already used. */
function candidatesOf(names: Names): readonly Names[] {
  const suffixes = ['record', 'entity', 'element'].filter((each) => !names.entity.includes(each));
  const others = suffixes.map((suffix) => ({
    entity: [...names.entity, suffix],
    plural: pluralOf([...names.entity, suffix]),
    project: [...names.project, suffix === 'record' ? 'app' : suffix],
  }));
  const several = isSameInPlural(names) ? [{ ...names, plural: [...names.plural, 'list'] }] : [];
  return [names, ...several, ...others];
}

function isSameInPlural({ entity, plural }: Names): boolean {
  return entity.join() === plural.join();
}

function spelled(name: string, names: Names): string {
  return renameText(name, names, 'camel');
}

function renamePaths(files: readonly SourceFile[], candidates: readonly Names[]): Map<string, string> {
  const taken = new Set(files.map(({ path }) => path).filter((path) => !isNamed(path)));
  return new Map(
    files.map(({ path }) => {
      const choices = isNamed(path) ? candidates.map((names) => renameText(path, names, 'kebab')) : [path];
      const renamed = choices.find((each) => path === each || !taken.has(each)) as string;
      taken.add(renamed);
      return [path, renamed];
    }),
  );
}

function sourcesOf(file: SourceFile): Source[] {
  const scripts = SCRIPT.test(file.path) ? [file] : codeBlocks(file);
  return scripts.map(({ path, text }) => {
    const identifiers = identifiersOf(path, text);
    const bindings = identifiers.occurrences.filter(({ role }) => role === 'binding' || role === 'both');
    const taken = new Set(bindings.map(({ name }) => name).filter((name) => !isNamed(name)));
    return { path, text, taken, ...identifiers };
  });
}

/** Returns the blocks of code in a manual. Each block is a module of its own. */
function codeBlocks({ path, text }: SourceFile): (SourceFile & { start: number })[] {
  if (!path.endsWith('.md')) return [];
  return [...text.matchAll(CODE_BLOCK)].map((match, index) => ({
    path: `${path}#${index}.ts`,
    text: match[0],
    start: match.index,
  }));
}

/** Chooses the new names of members and exports. Each of them has the same new name in the whole project. */
function sharedNames(sources: readonly Source[], candidates: readonly Names[]) {
  const exported = new Set(sources.flatMap((source) => [...source.shared].filter(isNamed)));
  const places = new Map<string, Set<Set<string>>>();
  const addPlace = (name: string, taken: Set<string>): void => {
    places.set(name, (places.get(name) ?? new Set()).add(taken));
  };
  const bound = new Set<string>();
  for (const { occurrences, objects, taken } of sources) {
    for (const { name, role } of occurrences.filter((each) => isNamed(each.name) && each.role !== 'text')) {
      if (role === 'member' || role === 'both' || exported.has(name)) addPlace(name, new Set());
      if (role === 'member' || !exported.has(name)) continue;
      addPlace(name, taken);
      bound.add(name);
    }
    for (const members of objects) {
      const others = new Set([...members].filter((name) => !isNamed(name)));
      for (const name of members) if (isNamed(name)) addPlace(name, others);
    }
  }
  const shared: NameMap = new Map();
  for (const [name, taken] of [...places].sort(([one], [other]) => one.length - other.length)) {
    const isFree = (each: string) =>
      !(bound.has(name) && RESERVED.has(each)) && ![...taken].some((others) => others.has(each));
    const renamed = choose(name, candidates, isFree);
    for (const others of taken) others.add(renamed);
    shared.set(name, renamed);
  }
  return { shared, exported };
}

/** Chooses the names of variables, parameters and types that only one file uses. */
function localNames(
  source: Source,
  shared: NameMap,
  exported: ReadonlySet<string>,
  candidates: readonly Names[],
): NameMap {
  const locals: NameMap = new Map();
  for (const { name, role } of source.occurrences) {
    if (role === 'member' || role === 'text' || !isNamed(name) || locals.has(name)) continue;
    const isFree = (each: string) => !RESERVED.has(each) && !source.taken.has(each);
    const renamed = exported.has(name)
      ? shared.get(name)
      : choose(name, candidates.toSorted(severalFirst), isFree);
    source.taken.add(renamed as string);
    locals.set(name, renamed as string);
  }
  return locals;
}

/**
 * Sorts names with `list` to the front. Only a word whose plural equals its singular, such as `sheep`, has such names: a variable
 * for several records is then called `sheepList`, even where `sheep` is free.
 */
function severalFirst(one: Names, other: Names): number {
  return Number(other.plural.at(-1) === 'list') - Number(one.plural.at(-1) === 'list');
}

function choose(name: string, candidates: readonly Names[], isFree: (name: string) => boolean): string {
  const renamed = candidates.map((names) => spelled(name, names)).find(isFree);
  if (renamed === undefined) throw new Error(`each name for ${name} is taken: choose another word`);
  return renamed;
}

function renameSource(source: Source, locals: NameMap, change: Change): string {
  const { shared, names, exceptions, moved } = change;
  const edits: (readonly [start: number, end: number, text: string])[] = [];
  for (const { name, role, start, end } of source.occurrences.filter((each) => isNamed(each.name))) {
    const [member, binding] = [shared.get(name) ?? '', locals.get(name) ?? ''];
    if (role === 'text') {
      const isTable =
        DATABASE.test(source.path) &&
        /s$/.test(name) &&
        !/(?:'pet' :|database:) '$/.test(source.text.slice(0, start));
      if (isTable) edits.push([start, end, renameText(name, names, 'snake', exceptions)]);
    } else if (role === 'both' && member !== binding) edits.push([start, end, `${member}: ${binding}`]);
    else edits.push([start, end, role === 'member' ? member : binding]);
  }
  for (const { start, text } of source.paths) {
    const target = join(dirname(source.path), text);
    const renamed = moved.get(target);
    if (renamed === undefined) continue;
    const path = relative(dirname(renameText(source.path, names, 'kebab')), renamed);
    edits.push([start, start + text.length, path.startsWith('.') ? path : `./${path}`]);
  }
  const styleAt = (at: number): Style =>
    source.styled.find(({ start, end }) => start <= at && at < end)?.style ?? 'prose';
  const bounds = source.styled.flatMap(({ start, end }) => [start, end]);
  let [at, text] = [0, ''];
  const renameUntil = (end: number): void => {
    for (const bound of [
      ...bounds.filter((each) => at < each && each < end).sort((one, other) => one - other),
      end,
    ]) {
      text += renamePart(source, at, bound, change, styleAt(at));
      at = bound;
    }
  };
  for (const [start, end, renamed] of edits.sort(([one], [other]) => one - other)) {
    renameUntil(start);
    text += renamed;
    at = end;
  }
  renameUntil(source.text.length);
  return text;
}

function renamePart(
  file: SourceFile,
  start: number,
  end: number,
  { names, exceptions, moved }: Change,
  style: Style = OTHER_LANGUAGE.test(file.path) ? 'camel' : 'prose',
): string {
  let part = file.text.slice(start, end);
  for (const [path, renamed] of moved) part = part.replaceAll(tailOf(path), tailOf(renamed));
  return renameText(part, names, style, exceptions);
}

/** Returns the last two components of a path, without the extension. Imports, settings and manuals contain this part. */
function tailOf(path: string): string {
  return path
    .split('/')
    .slice(-2)
    .join('/')
    .replace(/\.\w+$/, '');
}

/** Words that cannot be the name of a variable. */
const RESERVED: ReadonlySet<string> = new Set([
  ...Array.from({ length: ts.SyntaxKind.LastKeyword - ts.SyntaxKind.FirstKeyword + 1 }, (_, index) =>
    String(ts.tokenToString(ts.SyntaxKind.FirstKeyword + index)),
  ),
  ...['arguments', 'eval', 'undefined'],
]);
