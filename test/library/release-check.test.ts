/** The check before a release passes here, and finds each fault. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Release, releaseFaults } from '../../scripts/release-check.ts';
import { sbomFaults } from '../../scripts/sbom.ts';
import { tarballFaults } from '../../scripts/tarball.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const { version } = JSON.parse(read('package.json')) as { version: string };
const HERE: Release = {
  packageJson: read('package.json'),
  lockFile: read('package-lock.json'),
  changelog: read('CHANGELOG.md'),
  workflow: read('.github/workflows/publish.yml'),
  tag: undefined,
};

/** What stands here, as if everything were released. */
const RELEASED: Release = {
  ...HERE,
  changelog: `# Changelog\n\n## [Unreleased]\n\n## [${version}] - 2026-11-23\n\n- A line.\n`,
  tag: `v${version}`,
};
const WITH_NEWS = RELEASED.changelog.replace(
  '## [Unreleased]\n',
  '## [Unreleased]\n\n### Added\n\n- News.\n',
);

test('what stands here can be packed, and a release before and after it is tagged', () => {
  for (const release of [HERE, RELEASED, { ...RELEASED, tag: undefined }])
    expect(releaseFaults(release)).toEqual([]);
});

test('news under Unreleased need a later version, and cannot be tagged', () => {
  const next = (later: string, tag?: string): Release => ({
    ...RELEASED,
    packageJson: HERE.packageJson.replaceAll(`"version": "${version}"`, `"version": "${later}"`),
    lockFile: HERE.lockFile.replaceAll(`"version": "${version}"`, `"version": "${later}"`),
    changelog: WITH_NEWS,
    tag,
  });
  const later = `${version.split('.')[0]}.99.0-dev`;
  expect(releaseFaults(next(later))).toEqual([]);
  expect(releaseFaults(next(version))).toEqual([expect.stringContaining(`still ${version}`)]);
  expect(releaseFaults(next(later, `v${later}`))).toEqual([expect.stringContaining('news under Unreleased')]);
});

test.each<[keyof Release, string, string, string]>([
  ['packageJson', `"version": "${version}"`, '"version": "1.0"', 'is no version'],
  ['packageJson', `"version": "${version}"`, '"version": "99.0.0"', 'the version is not 99.0.0'],
  ['packageJson', '"provenance": true', '"provenance": false', 'provenance is not true'],
  ['packageJson', '"access": "public"', '"access": "restricted"', 'access is not public'],
  ['lockFile', `"version": "${version}"`, '"version": "0.0.1"', 'package-lock.json: the version is not'],
  ['lockFile', '"integrity"', '"resolved": "https://example.org/a.tgz", "integrity"', '1 packages name'],
  ['changelog', `## [${version}]`, '## [0.0.1]', 'the newest release is 0.0.1'],
  ['changelog', `## [${version}] - `, `## [${version}] - soon`, 'has no date'],
  ['tag', `v${version}`, version, `the tag is ${version}`],
])('%s: %s instead of %s is found', (part, text, other, fault) => {
  const broken = (RELEASED[part] as string).replace(text, other);
  expect(broken).not.toBe(RELEASED[part]);
  expect(releaseFaults({ ...RELEASED, [part]: broken }).join('\n')).toContain(fault);
});

test('a file too many or too few is named', () => {
  expect(tarballFaults(['a', 'c'], ['a', 'b'])).toEqual([
    'the package: b is missing',
    'the package: c does not belong there',
  ]);
});

test('the SBOM has each package that a user installs, with its hash, and no other', () => {
  const hash = Buffer.from('hash');
  const integrity = `sha512-${hash.toString('base64')}`;
  const packageJson = '{"name":"animal-store","version":"1.0.0"}';
  const lockFile = JSON.stringify({
    packages: {
      '': { version: '1.0.0' },
      'node_modules/koa': { version: '3.3.0', integrity },
      'node_modules/koa/node_modules/@types/node': { version: '26.0.0', integrity },
      'node_modules/vitest': { version: '5.1.0', integrity, dev: true },
    },
  });
  const hashes = [{ alg: 'SHA-512', content: hash.toString('hex') }];
  const koa = { purl: 'pkg:npm/koa@3.3.0', hashes };
  const types = { purl: 'pkg:npm/%40types/node@26.0.0', hashes };
  const faultsOf = (...components: object[]) => {
    const component = { name: 'animal-store', purl: 'pkg:npm/animal-store@1.0.0' };
    const sbom = { bomFormat: 'CycloneDX', metadata: { component }, components };
    return sbomFaults(JSON.stringify(sbom), packageJson, lockFile).join('\n');
  };
  expect(faultsOf(koa, types)).toBe('');
  expect(faultsOf(koa)).toMatch(/^the SBOM: pkg:npm\/%40types\/node@26\.0\.0 .* is missing$/);
  expect(faultsOf(koa, types, { purl: 'pkg:npm/vitest@5.1.0' })).toMatch(/vitest@5\.1\.0 is not/);
  expect(faultsOf({ purl: koa.purl }, types)).toMatch(/koa@3\.3\.0 is not installed/);
  expect(faultsOf({ ...koa, url: 'https://a.example' }, types)).toMatch(/names https:\/\/a\.example/);
});
