/** What a new project does not take over: files about this project's own past and figures, and the command that makes projects. */

/** Paths of files, and of folders with a slash at their end. */
const LEFT_OUT: readonly string[] = [
  'bench/results/',
  'docs/images/',
  'docs/performance.md',
  'scripts/new.ts',
  'scripts/new/',
  'test/new/',
];

export function isLeftOut(path: string): boolean {
  return LEFT_OUT.some((each) => (each.endsWith('/') ? path.startsWith(each) : path === each));
}

/** A line that begins or ends a block, in a comment of any language. */
const BEGIN = /^[^\n]*\bnew project: leave out from here\b[^\n]*\n/m;
const END = /^[^\n]*\bnew project: leave out to here\b[^\n]*\n?/m;

/** Returns the text without its marked blocks. Throws for a mark without its counterpart. */
export function withoutBlocks(text: string, path: string): string {
  let rest = text;
  let kept = '';
  for (;;) {
    const begin = BEGIN.exec(rest);
    if (begin === null) break;
    kept += rest.slice(0, begin.index);
    rest = rest.slice(begin.index + begin[0].length);
    const end = END.exec(rest);
    if (end === null) throw new Error(`${path}: a block that is left out has no end`);
    rest = rest.slice(end.index + end[0].length);
  }
  if (END.test(rest)) throw new Error(`${path}: the end of a block has no beginning`);
  return kept + rest;
}
