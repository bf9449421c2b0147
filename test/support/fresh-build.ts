/** Refuses a build of other sources than the present ones. The tests of the real command run the build. */

import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const BUILD_INFO = join(ROOT, 'dist/.tsbuildinfo');

interface BuildInfo {
  readonly fileNames: readonly string[];
  /** The hashes of the files in `fileNames`. */
  readonly fileInfos: readonly (string | { readonly version: string })[];
}

/** Throws when `dist` was built from other sources. */
export default function assertFreshBuild(): void {
  const advice = 'npm run build makes the dist that this test runs';
  if (!existsSync(BUILD_INFO)) throw new Error(`there is no dist: ${advice}`);
  const { fileNames, fileInfos } = JSON.parse(readFileSync(BUILD_INFO, 'utf8')) as BuildInfo;
  const built = new Map(
    fileNames.map((name, index) => {
      const info = fileInfos[index];
      return [join(ROOT, 'dist', name), typeof info === 'string' ? info : info?.version];
    }),
  );
  for (const name of globSync('src/**/*.ts', { cwd: ROOT })) {
    const file = join(ROOT, name);
    const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
    if (built.get(file) !== hash)
      throw new Error(`dist was built before ${relative(ROOT, file)} was changed: ${advice}`);
  }
}
