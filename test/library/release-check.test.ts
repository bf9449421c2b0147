/** The check before a release passes here, and finds each fault. */

import { expect, test } from 'vitest';
import { type Release, releaseFaults } from '../../scripts/release-check.ts';
import { read } from '../manuals/manuals.ts';

const { version } = JSON.parse(read('package.json')) as { version: string };
const HERE: Release = {
  packageJson: read('package.json'),
  lockFile: read('package-lock.json'),
  changelog: read('CHANGELOG.md'),
  workflow: read('.github/workflows/publish.yml'),
  containerfile: read('deploy/Containerfile'),
  tag: undefined,
};

/** The files of this project, as if everything were released. */
const RELEASED: Release = {
  ...HERE,
  changelog: `# Changelog\n\n## [Unreleased]\n\n## [${version}] - 2026-11-23\n\n- A line.\n`,
  tag: `v${version}`,
};

test('what stands here can be packed, and a release before and after it is tagged', () => {
  for (const release of [HERE, RELEASED, { ...RELEASED, tag: undefined }])
    expect(releaseFaults(release)).toEqual([]);
});

test.each<[keyof Release, string, string, string]>([
  ['packageJson', `"version": "${version}"`, '"version": "1.0"', 'is no version'],
  ['packageJson', `"version": "${version}"`, '"version": "99.0.0"', 'the version is not 99.0.0'],
  ['packageJson', '"provenance": true', '"provenance": false', 'provenance is not true'],
  ['packageJson', '"access": "public"', '"access": "restricted"', 'access is not public'],
  ['lockFile', `"version": "${version}"`, '"version": "0.0.1"', 'package-lock.json: the version is not'],
  ['lockFile', '"integrity"', '"resolved": "https://example.org/a.tgz", "integrity"', '1 packages name'],
  ['changelog', '## [Unreleased]\n', '## [Unreleased]\n\n- News.\n', 'news under Unreleased'],
  ['changelog', `## [${version}]`, '## [0.0.1]', 'the newest release is 0.0.1'],
  ['changelog', `## [${version}] - `, `## [${version}] - soon`, 'has no date'],
  ['containerfile', `version="${version}"`, 'version="0.0.1"', 'the label of the version'],
  ['tag', `v${version}`, version, `the tag is ${version}`],
])('%s: %s instead of %s is found', (part, text, other, fault) => {
  const broken = (RELEASED[part] as string).replace(text, other);
  expect(broken).not.toBe(RELEASED[part]);
  expect(releaseFaults({ ...RELEASED, [part]: broken }).join('\n')).toContain(fault);
});
