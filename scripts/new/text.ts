/** What texts say of files that are left out. */

import { dirname, extname, join } from 'node:path';

/** Returns the text without the lines that end with the mark, and without those between the mark and `from here`, `to here`. */
export function withoutMarked(text: string, mark: string, path: string): string {
  const comment = String.raw`(?:\/\/|#|<!--) only ${mark}`;
  const block = new RegExp(`^.*${comment}: from here.*\n(?:.*\n)*?.*${comment}: to here.*\n`, 'gm');
  const line = new RegExp(`^.*${comment}(?: -->)?\n`, 'gm');
  const rest = text.replaceAll(block, '').replaceAll(line, '');
  const left = new RegExp(comment).exec(rest);
  if (left !== null) throw new Error(`${path}: a mark has no counterpart: ${left[0]}`);
  return rest;
}

/** Returns a manual in which a link to one of the paths, or to a file below it, is only its text. */
export function withoutLinks(text: string, manual: string, paths: readonly string[]): string {
  return text.replaceAll(/(?<!!)\[([^\]]*)\]\(([^)#:\s]+)[^)]*\)/g, (link, shown: string, target: string) => {
    const file = join(dirname(manual), target);
    return paths.some((path) => file === path || file.startsWith(`${path}/`)) ? shown : link;
  });
}

/** Returns a manual without the code spans that name one of the paths, and without the rows of a table that are about them. */
export function withoutSpans(text: string, paths: readonly string[]): string {
  let rest = text;
  for (const path of paths.flatMap((each) => [each, each.replace(/^src\/(?:adapters\/)?/, '')])) {
    const span = `\`${path.replaceAll('.', '\\.')}(?:/[^\`]*)?\``;
    rest = rest.replaceAll(new RegExp(`\\s\\(${span}[^)]*\\)|(?:[,;]| or)? ?${span}`, 'g'), '');
  }
  return rest.replaceAll(/^\| *\|.*\n/gm, '').replaceAll(/^\|[,;] /gm, '| ');
}

/**
 * Returns `package.json` without the entry points and the scripts that need one of the paths. A folder that is one argument of
 * a command, such as one of the folders whose tests it runs, is only left out.
 */
export function withoutEntries(text: string, paths: readonly string[]): string {
  const about = JSON.parse(text) as Record<'exports' | 'scripts', Record<string, unknown>>;
  const built = paths.map((path) => path.replace(/^src\//, './dist/').replace(/\.ts$/, '.js'));
  for (const [name, script] of Object.entries(about.scripts)) {
    const words = String(script).split(' ');
    const isNeeded = (word: string) => extname(word) !== '' || !paths.includes(word);
    about.scripts[name] = words.filter(isNeeded).join(' ');
  }
  for (const members of [about.exports, about.scripts]) {
    for (const [name, value] of Object.entries(members)) {
      const words = JSON.stringify(value).split(/[\s"]+/);
      const needs = (path: string) => words.some((word) => word === path || word.startsWith(`${path}/`));
      if ([...paths, ...built].some(needs)) delete members[name];
    }
  }
  return `${JSON.stringify(about, null, 2)}\n`;
}
