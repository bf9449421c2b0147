/** Leaves out what a new project does not take over, and what other files say of it. */

import { OWN, PARTS, type PartName } from './parts.ts';
import { pruned } from './prune.ts';
import { withoutEntries, withoutLinks, withoutMarked, withoutSpans } from './text.ts';

/** A file of the project: its path below the root, and its text. */
interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const MODULE = /\.[cm]?[jt]s$/;

/** What the marks in files of other languages, and in lists of names, call the parts. */
const MARKS: Readonly<Record<PartName, string>> = {
  postgresql: 'PostgreSQL',
  page: 'the page',
  client: 'the client',
};

/** Without the reference page, `/docs` is a link. */
const PAGE =
  '<!doctype html><html lang="en"><title>Animal Store API</title><a href="openapi.json">OpenAPI document</a></html>\n';

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((each) => path === each || path.startsWith(`${each}/`));
}

export function isLeftOut(path: string, without: readonly PartName[] = []): boolean {
  if (path === 'page/index.html') return false;
  return isBelow(path, OWN) || without.some((part) => isBelow(path, PARTS[part]));
}

/** Returns the files without what they have of others that are left out. */
export function withoutLeftOut(
  files: readonly SourceFile[],
  without: readonly PartName[] = [],
): SourceFile[] {
  const paths = without.flatMap((part) => PARTS[part]);
  const texts = files.map(({ path, text }) => ({ path, text: textWithout(text, path, paths, without) }));
  const modules = new Map(
    texts.filter(({ path }) => MODULE.test(path)).map(({ path, text }) => [path, text]),
  );
  const kept = pruned(modules, isEntry);
  return texts.flatMap(({ path, text }) => {
    if (!modules.has(path)) return [{ path, text }];
    const rest = kept.get(path);
    return rest === undefined ? [] : [{ path, text: rest }];
  });
}

/** Returns the text without what is marked, and without what it says of the paths. */
function textWithout(
  text: string,
  path: string,
  paths: readonly string[],
  without: readonly PartName[],
): string {
  const marks = ['this project', ...without.map((part) => MARKS[part])];
  let rest = marks.reduce((before, mark) => withoutMarked(before, mark, path), text);
  if (path === 'page/index.html' && without.includes('page')) return PAGE;
  if (path.endsWith('.md')) rest = withoutLinks(rest, path, [...OWN, ...paths]);
  if (/^(?:CONTRIBUTING|docs\/[\w-]+)\.md$/.test(path)) rest = withoutSpans(rest, paths);
  if (path === 'package.json') rest = withoutEntries(rest, paths);
  return rest;
}

/** Whether a module is loaded by something else than another module of `src`, `openapi` and `page`. */
function isEntry(path: string): boolean {
  return (
    !/^(?:src|openapi|page)\//.test(path) ||
    /^src\/(?:main|library\/\w+|testing\/index|adapters\/(?:[\w-]+\/index|http\/fetch))\.ts$/.test(path) ||
    /^page\/(?:main|.*\.d)\.ts$/.test(path)
  );
}
