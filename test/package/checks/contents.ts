/** The tarball has what is needed and nothing else. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { expectedFiles } from '../../../scripts/tarball.ts';
import { ROOT, run, stage } from '../stage.ts';

const { tarball, installed } = stage();

test('every module is there with its types, and so are the page and the papers; nothing else is', () => {
  const entries = run('tar', ['-tzf', tarball], { cwd: ROOT }).trim().split('\n');
  const files = entries.map((entry) => entry.replace(/^package\//, ''));
  assert.ok(files.length > 100);
  assert.deepEqual(files.toSorted(), expectedFiles());
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
