/** The tarball contains the required files and no others. */

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { expectedFiles } from '../../../scripts/tarball.ts';
import { ROOT, run, stage } from '../stage.ts';

const { tarball, installed } = stage();

test('contains every module with its types, the reference page, the manuals and the licenses, and nothing else', () => {
  const entries = run('tar', ['-tzf', tarball], { cwd: ROOT }).trim().split('\n');
  const files = entries.map((entry) => entry.replace(/^package\//, ''));
  assert.ok(files.length > 100);
  assert.deepEqual(files.toSorted(), expectedFiles());
});

test('no module refers to a missing source map', () => {
  const folder = join(installed, 'node_modules/animal-store');
  const modules = globSync('dist/**/*.{js,d.ts}', { cwd: folder });
  assert.ok(modules.length > 80);
  for (const module of modules) {
    const map = /^\/\/# sourceMappingURL=(.*)$/m.exec(readFileSync(join(folder, module), 'utf8'))?.[1];
    assert.equal(map, undefined, module);
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
