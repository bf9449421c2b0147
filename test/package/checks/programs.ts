/** Programs that use the library, on every supported version of Node.js. */

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, inject, test } from 'vitest';
import { install, NODES, ROOT, run } from '../stage.ts';

const { folder, tarball, installed } = inject('stage');
const tsc = join(ROOT, 'node_modules/.bin/tsc');

const STRICT = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false', '--target', 'es2022'];

/** An installation without the optional driver. */
let bare: string;
beforeAll(async () => {
  bare = await install(folder, 'bare', tarball);
  rmSync(join(bare, 'node_modules', 'better-sqlite3'), { recursive: true });
});

test('the types compile with strict checks, including those of the libraries, and need none of a driver', async () => {
  const options = ['--module', 'nodenext', '--types', 'node', '--outDir', 'out'];
  await run(tsc, [...STRICT, ...options, 'typescript.ts'], { cwd: installed });
});

test('the types of the core need neither those of Node.js nor a newer library', async () => {
  const browser = ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', 'es2022,dom'];
  await run(tsc, [...STRICT, ...browser, '--noEmit', 'core.ts'], { cwd: installed });
});

describe('TypeScript in CommonJS', () => {
  const compile = (module: string, file: string) => {
    const options = ['--strict', '--skipLibCheck', '--target', 'es2023', '--types', 'node'];
    return run(tsc, [...options, '--module', module, '--outDir', `out-${module}`, file], { cwd: installed });
  };

  test('node16 reports TS1479 for an import, and accepts await import()', async () => {
    await assert.rejects(compile('node16', 'commonjs-import.cts'), /\(2,\d+\): error TS1479: /);
    await compile('node16', 'commonjs-await.cts');
    const output = await run(process.execPath, ['out-node16/commonjs-await.cjs'], { cwd: installed });
    assert.equal(output, 'done\n');
  });

  test('nodenext accepts an import', async () => {
    await compile('nodenext', 'commonjs-import.cts');
    const output = await run(process.execPath, ['out-nodenext/commonjs-import.cjs'], { cwd: installed });
    assert.equal(output, 'done\n');
  });
});

for (const [name, node] of Object.entries(NODES)) {
  describe(`with Node.js ${name}`, () => {
    const program = async (folder: string, file: string) => {
      assert.match(await run(node, ['--version'], { cwd: folder }), new RegExp(`^v${name}\\.`));
      assert.equal(await run(node, [file], { cwd: folder, node }), 'done\n');
    };
    test('an ES module', () => program(installed, 'esm.mjs'));
    test('a CommonJS module', () => program(installed, 'commonjs.cjs'));
    test('a TypeScript module', () => program(installed, 'out/typescript.js'));
    test('an import has no side effect', () => program(installed, 'no-side-effects.mjs'));
    test('a missing driver is reported in one line', () => program(bare, 'missing-driver.mjs'));
  });
}
