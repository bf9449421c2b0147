/** The tarball has what is needed and nothing else. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, run, stage } from '../stage.ts';

const { tarball, installed } = stage();

/** What stands beside the compiled modules. */
const OTHERS = ['CHANGELOG.md', 'LICENSE', 'README.md', 'bin/animal-store.js', 'package.json'];

const files = run('tar', ['-tzf', tarball], { cwd: ROOT })
  .trim()
  .split('\n')
  .map((file) => file.replace(/^package\//, ''));

test('every module is there with its types, and so are the papers; nothing else is', () => {
  const modules = globSync('**/*.ts', { cwd: join(ROOT, 'src') }).map((file) => file.replace(/\.ts$/, ''));
  assert.ok(modules.length > 40);
  const expected = modules.flatMap((module) => [`dist/${module}.js`, `dist/${module}.d.ts`]);
  assert.deepEqual(files.toSorted(), [...expected, ...OTHERS].toSorted());
});

test('no module points to a source map that is not there', () => {
  const folder = join(installed, 'node_modules/animal-store');
  const modules = globSync('dist/**/*.{js,d.ts}', { cwd: folder });
  assert.ok(modules.length > 80);
  for (const module of modules) {
    const map = /^\/\/# sourceMappingURL=(.*)$/m.exec(readFileSync(join(folder, module), 'utf8'))?.[1];
    assert.equal(map, undefined, module);
  }
});
