/**
 * Writes the software bill of materials (SBOM) of the package to standard output, in the CycloneDX format: every package that the
 * lock file installs for a user, with its version and hash. Usage: `npm run --silent sbom > FILE`.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

export interface Sbom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
}

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

/** Returns the packages of a lock file that are installed for a user. Their paths are the keys. */
function productionOf(lock: LockFile): Readonly<Record<string, LockedPackage>> {
  const entries = Object.entries(lock.packages);
  return Object.fromEntries(entries.filter(([, { dev, devOptional }]) => !dev && !devOptional));
}

/**
 * Returns the SBOM that npm writes, as JSON. npm reads a copy of the package without development dependencies, because `--omit dev`
 * would also omit each package that a development dependency and another dependency both need. The folder of the copy has the name
 * of the package, because npm takes the name from the folder.
 */
export function createSbom(packageJson: string, lockFile: string): string {
  const manifest = { ...(JSON.parse(packageJson) as { name: string }), devDependencies: {} };
  const lock = JSON.parse(lockFile) as LockFile;
  const packages = productionOf(lock);
  const root = { ...packages[''], devDependencies: {} };
  const temporary = mkdtempSync(join(tmpdir(), 'animal-store-sbom-'));
  try {
    const folder = join(temporary, manifest.name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(
      join(folder, 'package-lock.json'),
      JSON.stringify({ ...lock, packages: { ...packages, '': root } }),
    );
    const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
    return execFileSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 });
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

/** Returns the faults of an SBOM: above all, differences from the lock file. */
export function sbomFaults(text: string, packageJson: string, lockFile: string): string[] {
  const sbom = JSON.parse(text) as Sbom;
  const { name, version } = JSON.parse(packageJson) as Component;
  const { '': _root, ...locked } = productionOf(JSON.parse(lockFile) as LockFile);
  const component = sbom.metadata.component;
  const faults: string[] = [];
  if (sbom.bomFormat !== 'CycloneDX') faults.push(`the format is ${sbom.bomFormat}`);
  if (component.purl !== `pkg:npm/${name}@${version}` || component.name !== name) {
    faults.push(`it is the SBOM of ${component.name}, ${component.purl}`);
  }
  const expected = Object.entries(locked).map(([path, { version: locked, integrity }]) =>
    describeComponent(path.slice(path.lastIndexOf('node_modules/') + 13), locked, integrity),
  );
  const found = sbom.components.map(({ purl, hashes = [] }) =>
    [purl, ...hashes.map(({ alg, content }) => `${alg} ${content}`)].join(' '),
  );
  faults.push(...expected.filter((line) => !found.includes(line)).map((line) => `${line} is missing`));
  faults.push(...found.filter((line) => !expected.includes(line)).map((line) => `${line} is not installed`));
  const addresses = text.match(/https?:\/\/(?!cyclonedx\.org\/schema\/)[^"]+/g) ?? [];
  faults.push(...addresses.map((address) => `it names ${address}`));
  return faults.map((fault) => `the SBOM: ${fault}`);
}

/** Returns the package URL and the hash of a package, as they are in the SBOM. */
function describeComponent(name: string, version: string, integrity = ''): string {
  const hash = Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex');
  return `pkg:npm/${name.replace('@', '%40')}@${version} SHA-512 ${hash}`;
}

if (import.meta.main) {
  const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
  process.stdout.write(createSbom(read('package.json'), read('package-lock.json')));
}
