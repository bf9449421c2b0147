/** What a new project does not take over: this project's own past and figures, and the command that makes projects. */

import { withoutLinks, withoutMarked } from '../without.ts';

/** Paths of files and folders. */
const LEFT_OUT: readonly string[] = [
  'bench/results',
  'docs/a-feature.md',
  'docs/benchmark.svg',
  'docs/performance.md',
  'scripts/new.ts',
  'scripts/new',
  'src/adapters/postgres/older-schemas.ts',
  'src/adapters/sqlite/older-schemas.ts',
  'test/adapters/http/recorded',
  'test/adapters/http/recorded.test.ts',
  'test/adapters/postgres/older-stores.test.ts',
  'test/adapters/sqlite/older-stores.test.ts',
  'test/new',
  'test/support/older-store.ts',
];

export function isLeftOut(path: string): boolean {
  return LEFT_OUT.some((each) => path === each || path.startsWith(`${each}/`));
}

/** Returns the text without what is marked as `only this project`, and without links to what is left out. */
export function withoutOwn(text: string, path: string): string {
  const rest = withoutMarked(text, 'this project', path);
  return path.endsWith('.md') ? withoutLinks(rest, path, LEFT_OUT) : rest;
}
