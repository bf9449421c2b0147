/** The check before a release passes here, and finds each fault. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Release, releaseFaults, tarballFaults } from '../../scripts/release-check.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

const { version } = JSON.parse(read('package.json')) as { version: string };
const HERE: Release = {
  packageJson: read('package.json'),
  lockFile: read('package-lock.json'),
  changelog: read('CHANGELOG.md'),
  workflow: read('.github/workflows/publish.yml'),
  tag: `v${version}`,
};

test('what stands here can be released', () => {
  expect(releaseFaults(HERE)).toEqual([]);
  expect(releaseFaults({ ...HERE, tag: undefined })).toEqual([]);
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
  const broken = (HERE[part] as string).replace(text, other);
  expect(broken).not.toBe(HERE[part]);
  expect(releaseFaults({ ...HERE, [part]: broken }).join('\n')).toContain(fault);
});

describe('the publishing workflow', () => {
  const duties = HERE.workflow
    .split('\n')
    .filter((line) => /tags:|id-token|contents:|registry-url|run:/.test(line));

  test.each(duties)('cannot do without %s', (line) => {
    const workflow = HERE.workflow.replace(`${line}\n`, '');
    expect(releaseFaults({ ...HERE, workflow })).toHaveLength(1);
  });

  test('has duties', () => expect(duties.length).toBe(8));
});

test('a file too many or too few is named', () => {
  expect(tarballFaults(['a', 'b'], ['a', 'b'])).toEqual([]);
  expect(tarballFaults(['a', 'c'], ['a', 'b'])).toEqual([
    'the package: b is missing',
    'the package: c does not belong there',
  ]);
});
