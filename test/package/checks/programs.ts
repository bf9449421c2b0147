/** Programs that use the library, on every supported version of Node.js. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { NODES, ROOT, readJson, run, stage } from '../stage.ts';

const { installed, bare } = stage();
const { version } = readJson<{ version: string }>(join(ROOT, 'package.json'));
const tsc = join(ROOT, 'node_modules/.bin/tsc');

const STRICT = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false', '--target', 'es2022'];

test('the types compile with strict checks, including those of the libraries', () => {
  run(tsc, [...STRICT, '--module', 'nodenext', '--types', 'node', '--outDir', 'out', 'typescript.ts'], {
    cwd: installed,
  });
});

test('the types of the core need neither those of Node.js nor a newer library', () => {
  const browser = ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom'];
  run(tsc, [...STRICT, ...browser, '--noEmit', 'core.ts'], { cwd: installed });
});

for (const [name, node] of Object.entries(NODES)) {
  describe(`with Node.js ${name}`, () => {
    const program = (folder: string, file: string) => {
      assert.match(run(node, ['--version'], { cwd: folder }), new RegExp(`^v${name}\\.`));
      assert.equal(run(node, [file], { cwd: folder, node }), 'done\n');
    };
    test('an ES module', () => program(installed, 'esm.mjs'));
    test('a CommonJS module', () => program(installed, 'commonjs.cjs'));
    test('a TypeScript module', () => program(installed, 'out/typescript.js'));
    test('an import has no side effect', () => program(installed, 'no-side-effects.mjs'));
    test('a missing driver is reported in one line', () => program(bare, 'missing-driver.mjs'));
    test('npx animal-store --version', () => {
      assert.equal(run('npx', ['animal-store', '--version'], { cwd: installed, node }), `${version}\n`);
    });
  });
}
