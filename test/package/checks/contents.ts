/** The tarball contains the required files and no others, publint finds no fault, and what is installed runs. */

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { inject, test } from 'vitest';
import { expectedFiles } from '../../../scripts/tarball.ts';
import { ROOT, readJson, run } from '../stage.ts';

const { tarball, installed } = inject('stage');

test('contains every module with its types and its source, the reference page, the manuals and the licenses, and nothing else', async () => {
  const output = await run('tar', ['-tzf', tarball], { cwd: ROOT });
  const files = output
    .trim()
    .split('\n')
    .map((entry) => entry.replace(/^package\//, ''));
  assert.ok(files.length > 100);
  assert.deepEqual(files.toSorted(), expectedFiles());
});

test('each declaration leads to its line in a source that is in the tarball', () => {
  const folder = join(installed, 'node_modules/animal-store');
  const declarations = globSync('dist/**/*.d.ts', { cwd: folder });
  assert.ok(declarations.length > 80);
  for (const declaration of declarations) {
    const path = join(folder, declaration);
    const map = join(dirname(path), mapOf(path) ?? '');
    const { sources } = readJson<{ sources: string[] }>(map);
    assert.deepEqual(
      sources.map((source) => join(dirname(map), source)),
      [path.replace('/dist/', '/src/').replace(/\.d\.ts$/, '.ts')],
    );
    for (const source of sources) assert.ok(existsSync(join(dirname(map), source)), source);
    assert.equal(
      mapOf(path.replace(/\.d\.ts$/, '.js')),
      undefined,
      'no module refers to a map that is missing',
    );
  }
});

test('every relative link of the manuals leads to a file of the package', () => {
  const folder = join(installed, 'node_modules/animal-store');
  const links = globSync('{*.md,docs/**/*.md}', { cwd: folder }).flatMap((manual) =>
    [...readFileSync(join(folder, manual), 'utf8').matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(
      ([, target = '']) => ({ manual, target }),
    ),
  );
  assert.ok(links.length > 5);
  const broken = links.filter(({ manual, target }) => !existsSync(join(folder, dirname(manual), target)));
  assert.deepEqual(broken, []);
});

test('publint finds no fault', async () => {
  const { buffer } = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
  assert.deepEqual(
    messages.map((message) => formatMessage(message, pkg)),
    [],
  );
});

test('the command and an ES module run where the package is installed', async () => {
  const { version } = readJson<{ version: string }>(join(ROOT, 'package.json'));
  assert.equal(await run('npx', ['animal-store', '--version'], { cwd: installed }), `${version}\n`);
  assert.equal(await run(process.execPath, ['esm.mjs'], { cwd: installed }), 'done\n');
});

/** Returns the name of the source map that a file refers to. */
function mapOf(path: string): string | undefined {
  return /^\/\/# sourceMappingURL=(.*)$/m.exec(readFileSync(path, 'utf8'))?.[1];
}
