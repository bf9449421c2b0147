/** The SBOM is valid, and contains the packages that npm installs for a user. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject, test } from 'vitest';
import { type Sbom, sbomFaults } from '../../../scripts/sbom.ts';
import { HERE, ROOT, readJson, run } from '../stage.ts';

const text = await run('npm', ['run', '--silent', 'sbom'], { cwd: ROOT });
const { components } = JSON.parse(text) as Sbom;

test('the SBOM is valid CycloneDX', async () => {
  const file = join(inject('stage').folder, 'sbom.json');
  writeFileSync(file, text);
  await run(process.execPath, [join(HERE, 'validate-sbom.js'), file], { cwd: HERE });
  writeFileSync(file, text.replace('"type": "library"', '"type": "book"'));
  await assert.rejects(run(process.execPath, [join(HERE, 'validate-sbom.js'), file], { cwd: HERE }));
});

test('the SBOM has the packages of the lock file, with their hashes, and no address', () => {
  const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
  assert.deepEqual(sbomFaults(text, read('package.json'), read('package-lock.json')), []);
});

test('the SBOM names the packages that npm installs for a user', () => {
  const lock = readJson<LockFile>(join(inject('stage').installed, 'node_modules/.package-lock.json'));
  const installed = Object.keys(lock.packages).map((path) =>
    path.slice(path.lastIndexOf('node_modules/') + 13),
  );
  const named = components.map(({ purl }) =>
    decodeURIComponent(purl.slice('pkg:npm/'.length, purl.lastIndexOf('@'))),
  );
  assert.deepEqual([...new Set(named), 'animal-store'].toSorted(), [...new Set(installed)].toSorted());
});

interface LockFile {
  readonly packages: Readonly<Record<string, unknown>>;
}
