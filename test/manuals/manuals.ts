/** Reads the README and the manuals: their blocks of code, their tables, and their prose. */

import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const ROOT: string = resolve(import.meta.dirname, '../..');

/** The manuals, whose words are counted. `docs/api` is generated, and `docs/decisions` has reasons. */
export const MANUALS: readonly string[] = globSync('docs/*.md', { cwd: ROOT }).toSorted();

export const DECISIONS: readonly string[] = globSync('docs/decisions/*.md', { cwd: ROOT }).toSorted();

/** All documents with links and blocks of code. */
export const DOCUMENTS: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'bench/README.md', 'deploy/README.md'],
  ...DECISIONS,
  ...MANUALS,
];

export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Returns the number of words, as `wc -w` counts them. */
export function wordsOf(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

/** A block of code, and the comment in the line before it. */
export interface Block {
  readonly document: string;
  readonly language: string;
  readonly code: string;
  /** The text of the comment in front of the block, such as `not run: needs a cluster`. */
  readonly note: string | undefined;
}

export function blocksOf(document: string): Block[] {
  const found = read(document).matchAll(/(?:^<!-- ([^\n]*) -->\n)?^( *)```(\w*)\n(.*?)^\2```$/gms);
  return [...found].map(([, note, , language = '', code = '']) => ({ document, language, code, note }));
}

/** Returns the cells of the rows of the first table below a heading. */
export function tableBelow(document: string, heading: string): string[][] {
  const [, below = ''] = read(document).split(`\n## ${heading}\n`);
  const [, rows = ''] = /^\|[-|: ]+\|\n((?:\|.*\n)+)/m.exec(below) ?? [];
  return rows
    .trim()
    .split('\n')
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

export function codeSpans(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
}

/** Returns a document without blocks of code and comments, on one line. */
export function proseOf(text: string): string {
  return text
    .replaceAll(/^ *```.*?^ *```$/gms, '')
    .replaceAll(/<!--.*?-->/gs, '')
    .replaceAll(/\s+/g, ' ');
}
