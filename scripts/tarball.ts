/** Lists the files that the package must contain, and the files that the package does contain. */

import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DOCS_ASSETS } from '../src/adapters/http/docs/assets.ts';
import { DOCUMENTS } from '../src/adapters/http/lifecycle.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** The files that are neither modules nor in the lists below. */
const OTHERS = [
  ...['CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md', 'bench/README.md'],
  ...['bin/animal-store.js', 'package.json'],
];

/** The files in dist/docs: the OpenAPI documents, and the reference page with the files that it loads or links to. */
const DOCS = [...Object.keys(DOCUMENTS), ...DOCS_ASSETS.map(({ file }) => `${file}.gz`)];

/** The manuals, and the files that they explain. */
const MANUALS = ['deploy/*', 'docs/**/*.{json,md,png,svg,yml}', 'examples/**/*.{capnp,go,js,py,sh,ts}'];

/** The type declarations that a reader of `examples/typed-client.ts` generates. */
const GENERATED = 'examples/animal-store.d.ts';

/** Returns every module with its types and its source, the reference page, the manuals and the other files, sorted. */
export function expectedFiles(): string[] {
  const modules = globSync('**/*.ts', { cwd: join(ROOT, 'src') }).map((file) => file.replace(/\.ts$/, ''));
  const compiled = modules.flatMap((module) => [
    `dist/${module}.js`,
    `dist/${module}.d.ts`,
    `dist/${module}.d.ts.map`,
    `src/${module}.ts`,
  ]);
  const manuals = globSync(MANUALS, { cwd: ROOT }).filter((file) => file !== GENERATED);
  return [...compiled, ...DOCS.map((file) => `dist/docs/${file}`), ...manuals, ...OTHERS].toSorted();
}

/** Returns the files that `npm pack` packs after a new build, sorted. */
export function packedFiles(): string[] {
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--silent'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const [pack] = JSON.parse(output.slice(output.indexOf('[\n'))) as [{ files: { path: string }[] }];
  return pack.files.map(({ path }) => path).toSorted();
}

/** Returns a fault for each file that the package lacks, and for each file that does not belong in the package. */
export function tarballFaults(packed: readonly string[], expected: readonly string[]): string[] {
  const missing = expected.filter((file) => !packed.includes(file)).map((file) => `${file} is missing`);
  const extra = packed
    .filter((file) => !expected.includes(file))
    .map((file) => `${file} does not belong there`);
  return [...missing, ...extra].map((fault) => `the package: ${fault}`);
}
