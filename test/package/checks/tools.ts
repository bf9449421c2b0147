/**
 * The verdicts of other tools: the bundle of esbuild is small, attw finds no fault, and the SBOM is valid and contains the
 * packages that npm installs for a user.
 */

import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { inject, test } from 'vitest';
import type { Sbom } from '../../../scripts/sbom.ts';
import { HERE, ROOT, readJson, run } from '../stage.ts';

/** In bytes. The client of the API, which a bundler can load on use, is a third of it: `test/library/client-bundle.test.ts`. */
const LIMIT = 52 * 1024;

const { folder, installed, tarball } = inject('stage');

test('the bundle for browsers is below 52 KB, and runs with only the Web platform', async () => {
  const bundle = join(installed, 'bundle.js');
  const flags = ['--bundle', '--minify', '--platform=browser', '--global-name=core', `--outfile=${bundle}`];
  await run(join(HERE, 'node_modules/.bin/esbuild'), ['core.ts', ...flags], { cwd: installed });
  const { size } = statSync(bundle);
  assert.ok(size > 1000 && size < LIMIT, `${size} bytes`);
  const context = createContext({
    AbortController,
    crypto,
    TextEncoder,
    btoa,
    setTimeout,
    setInterval,
    clearInterval,
  });
  runInContext(readFileSync(bundle, 'utf8'), context);
  const pets = await (runInContext('core.run()', context) as Promise<{ name: string }[]>);
  assert.equal(pets.map(({ name }) => name).join(), 'Rex');
});

test('attw finds no fault in any entry point', async () => {
  const attw = join(HERE, 'node_modules/.bin/attw');
  const args = [tarball, '--profile', 'esm-only', '--format', 'json'];
  const output = await run(attw, args, { cwd: HERE });
  const { analysis } = JSON.parse(output) as { analysis: { entrypoints: object } };
  const { exports } = readJson<{ exports: object }>(join(ROOT, 'package.json'));
  assert.deepEqual(Object.keys(analysis.entrypoints).toSorted(), Object.keys(exports).toSorted());
});

test('the SBOM is valid CycloneDX, and names the packages that npm installs for a user', async () => {
  const text = await run('npm', ['run', '--silent', 'sbom'], { cwd: ROOT });
  const file = join(folder, 'sbom.json');
  const validate = () => run(process.execPath, [join(HERE, 'validate-sbom.js'), file], { cwd: HERE });
  writeFileSync(file, text.replace('"type": "library"', '"type": "book"'));
  await assert.rejects(validate());
  writeFileSync(file, text);
  await validate();
  const named = (JSON.parse(text) as Sbom).components.map(({ purl }) =>
    decodeURIComponent(purl.slice('pkg:npm/'.length, purl.lastIndexOf('@'))),
  );
  const lock = readJson<{ packages: object }>(join(installed, 'node_modules/.package-lock.json'));
  const packages = Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, ''));
  assert.deepEqual([...new Set(named), 'animal-store'].toSorted(), [...new Set(packages)].toSorted());
});
