/**
 * Adds `"gypfile": false` to the lock file, for each package that ships prebuilt binaries. Without this line, `npm ci` compiles the
 * package, which needs Python and a compiler. `npm install` removes the line. Usage: `npm run lock`.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/** Packages that contain both a `binding.gyp` for node-gyp and binaries for each platform. */
const PREBUILT: readonly string[] = ['better-sqlite3'];

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly gypfile?: boolean;
  readonly resolved?: string;
  readonly deprecated?: string;
}

/**
 * Returns a description of each fault of a lock file.
 *
 * @param folder the folder of the lock file. Packages that are installed in it are searched for a `binding.gyp`
 */
export function lockFileFaults(text: string, folder: string): string[] {
  const { packages } = JSON.parse(text) as LockFile;
  return Object.entries(packages).flatMap(([path, { gypfile, resolved, deprecated }]) => {
    const compiles =
      gypfile !== false &&
      (isPrebuilt(path) || (path !== '' && existsSync(join(folder, path, 'binding.gyp'))));
    return [
      ...(compiles ? [`${path}: npm ci would compile it; run npm run lock`] : []),
      ...(resolved?.startsWith('http') ? [`${path}: names a registry`] : []),
      ...(deprecated === undefined ? [] : [`${path}: is deprecated: ${deprecated}`]),
    ];
  });
}

/** Returns the lock file with the line `"gypfile": false` for each prebuilt package. */
export function completed(text: string): string {
  const lock = JSON.parse(text) as LockFile;
  const packages = Object.fromEntries(
    Object.entries(lock.packages).map(([path, entry]) => [
      path,
      isPrebuilt(path) ? { ...entry, gypfile: false } : entry,
    ]),
  );
  return `${JSON.stringify({ ...lock, packages }, undefined, 2)}\n`;
}

function isPrebuilt(path: string): boolean {
  return PREBUILT.some((name) => path.endsWith(`node_modules/${name}`));
}

if (import.meta.main) {
  const file = join(ROOT, 'package-lock.json');
  writeFileSync(file, completed(readFileSync(file, 'utf8')));
}
