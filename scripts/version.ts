/** Writes the version of `package.json` to the other files that have it. `npm run accept` calls it. */

import { readFileSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** In the lock file, only the first two versions are the version of this package. */
const PLACES: readonly (readonly [path: string, pattern: RegExp, count: number])[] = [
  ['package-lock.json', /(?<="version": ")[^"]+/g, 2],
  ['deploy/Containerfile', /(?<=image\.version=")[^"]+/g, 1],
];

for (const [path, pattern, count] of PLACES) {
  let left = count;
  const text = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    text.replace(pattern, (old) => (left-- > 0 ? version : old)),
  );
}
