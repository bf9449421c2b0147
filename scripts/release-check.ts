/** Checks whether this commit can be released, and prints a line for each fault. Usage: `npm run release:check`. */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { clientPackageFaults } from './client-check.ts';
import { createSbom, sbomFaults } from './sbom.ts';
import { expectedFiles, packedFiles, tarballFaults } from './tarball.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** The contents of the files that are checked. */
export interface Release {
  readonly packageJson: string;
  readonly lockFile: string;
  readonly changelog: string;
  readonly workflow: string;
  readonly containerfile: string;
  /** The git tag of the release, or `undefined` if there is no tag yet. */
  readonly tag: string | undefined;
}

/** Each duty of publish.yml, with a pattern of the line that fulfils it. */
const WORKFLOW: Readonly<Record<string, RegExp>> = {
  'start on a tag v*': /^on:\n {2}push:\n {4}tags: \["v\*"\]$/m,
  'may ask for an identity (id-token: write)': /^ +id-token: write$/m,
  'may only read the repository (contents: read)': /^ +contents: read$/m,
  'name the registry (registry-url)': /^ +registry-url: https:\/\/registry\.npmjs\.org$/m,
  'name its repository in package.json, which npm compares': /^ +- run: npm pkg set .*repository\.url=/m,
  'pass the gate and the tests of a release': /^ +command: \.ci\/run && npm run test:release$/m,
  'publish only after them': /^ {4}needs: test$/m,
  'run this check (npm run release:check)': /^ +- run: npm ci && npm run release:check$/m,
  'pack the files that it publishes (npm pack)': /^ +- run: npm pack$/m,
  'publish (npm publish … --provenance --access public)':
    /^ +- run: npm publish \.\/animal-store-\*\.tgz --provenance --access public$/m,
  'write the package of the client (node scripts/client-package.ts)':
    /^ +- run: node scripts\/client-package\.ts( #|$)/m,
  'publish the package of the client':
    /^ +- run: npm publish \.\/dist-client --provenance --access public( #|$)/m,
  'write the SBOM (npm run sbom)': /^ +- run: npm run --silent sbom > animal-store\.cdx\.json$/m,
  'attest the SBOM (actions/attest-sbom)': /^ +- uses: actions\/attest-sbom@/m,
  'may attest (attestations: write)': /^ +attestations: write$/m,
  'write the release of GitHub in a job of its own (contents: write)':
    /^ {2}release:\n[\s\S]*^ {6}contents: write$/m,
  'attach the SBOM to the release of GitHub': /^ +- run: gh release create .* animal-store\.cdx\.json$/m,
};

/** Returns a description of each fault in the files of a release. */
export function releaseFaults(release: Release): string[] {
  const { packageJson, lockFile, changelog, workflow, containerfile, tag } = release;
  const { version, publishConfig } = JSON.parse(packageJson) as Package;
  const locked = JSON.parse(lockFile) as Package & {
    packages: Record<string, Package & { resolved?: string }>;
  };
  const faults: string[] = [];
  const expect = (holds: boolean, fault: string) => {
    if (!holds) faults.push(fault);
  };
  expect(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version), `package.json: ${version} is no version`);
  expect(
    locked.version === version && locked.packages['']?.version === version,
    `package-lock.json: the version is not ${version}: npm install`,
  );
  const addresses = Object.values(locked.packages).filter(({ resolved }) => resolved?.startsWith('http'));
  expect(addresses.length === 0, `package-lock.json: ${addresses.length} packages name a registry`);
  const newest = /^## \[(\d[^\]]*)\] - (\S+)$/m.exec(changelog);
  const released = newest?.[1] ?? '';
  if (hasNews(changelog)) {
    expect(
      isLater(version, released),
      `package.json: the version is still ${version}, but CHANGELOG.md has news under Unreleased`,
    );
    expect(tag === undefined, 'CHANGELOG.md: news under Unreleased belongs to the release that is tagged');
  } else {
    expect(released === version, `CHANGELOG.md: the newest release is ${released}, not ${version}`);
  }
  expect(
    newest === null || /^\d{4}-\d\d-\d\d$/.test(newest[2] ?? ''),
    'CHANGELOG.md: the newest release has no date',
  );
  expect(
    containerfile.includes(`org.opencontainers.image.version="${version}"`),
    `deploy/Containerfile: the label of the version is not ${version}`,
  );
  expect(tag === undefined || tag === `v${version}`, `the tag is ${tag}, not v${version}`);
  expect(publishConfig?.provenance === true, 'package.json: publishConfig.provenance is not true');
  expect(publishConfig?.access === 'public', 'package.json: publishConfig.access is not public');
  for (const [duty, pattern] of Object.entries(WORKFLOW)) {
    expect(pattern.test(workflow), `publish.yml: it must ${duty}`);
  }
  return faults;
}

/** Returns whether the changelog has a line under *Unreleased*. */
function hasNews(changelog: string): boolean {
  const section = changelog.split('\n## ').find((text) => text.startsWith('[Unreleased]\n')) ?? '';
  return section.replace('[Unreleased]', '').trim() !== '';
}

/** Returns whether a version, such as `3.0.0-dev`, has a greater number than a released one, such as `2.0.0`. */
function isLater(version: string, released: string): boolean {
  const [numbers, others] = [version, released].map(
    (text) => text.split('-')[0]?.split('.').map(Number) ?? [],
  );
  const index = numbers?.findIndex((number, place) => number !== others?.[place]) ?? -1;
  return index !== -1 && (numbers?.[index] ?? 0) > (others?.[index] ?? 0);
}

interface Package {
  readonly version: string;
  readonly publishConfig?: { readonly provenance?: boolean; readonly access?: string };
}

if (import.meta.main) {
  const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
  const [packageJson, lockFile] = [read('package.json'), read('package-lock.json')];
  const faults = releaseFaults({
    packageJson,
    lockFile,
    changelog: read('CHANGELOG.md'),
    workflow: read('.github/workflows/publish.yml'),
    containerfile: read('deploy/Containerfile'),
    tag: process.env['GITHUB_REF_TYPE'] === 'tag' ? process.env['GITHUB_REF_NAME'] : undefined,
  });
  faults.push(...tarballFaults(packedFiles(), expectedFiles()));
  faults.push(...(await clientPackageFaults()));
  faults.push(...sbomFaults(createSbom(packageJson, lockFile), packageJson, lockFile));
  for (const fault of faults) console.error(fault);
  console.log(faults.length === 0 ? 'ready to be released' : `${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
