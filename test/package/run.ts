/** Packs the library, installs the tarball in empty folders as a user would, and runs the checks there. */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HERE, ROOT, readJson, run, type Stage } from './stage.ts';

/** The other packages of programs that mount the API, in the versions of the lock files. */
const HOSTS = ['koa', 'express', 'fastify', '@types/express'];

const folder = mkdtempSync(join(tmpdir(), 'animal-store-package-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

run('npm', ['ci'], { cwd: HERE });
const tarball = join(
  folder,
  run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT }).trim().split('\n').at(-1) ??
    '',
);
const stage: Stage = {
  folder,
  tarball,
  installed: install('installed'),
  bare: install('bare'),
  hosting: install('hosting', ...HOSTS.map((name) => `${name}@${versionOf(name)}`)),
};
rmSync(join(stage.bare, 'node_modules', 'better-sqlite3'), { recursive: true });
for (const each of [stage.installed, stage.bare]) cpSync(join(HERE, 'programs'), each, { recursive: true });
cpSync(join(ROOT, 'examples'), stage.hosting, { recursive: true });

const checks = ['installation', 'contents', 'shape', 'bundle', 'programs', 'examples', 'sbom'].map((name) =>
  join('checks', `${name}.ts`),
);
// One check waits for npm most of the time, so the others run beside it.
const { status } = spawnSync(process.execPath, ['--test', '--test-concurrency=2', ...checks], {
  cwd: HERE,
  env: { ...process.env, STAGE: JSON.stringify(stage) },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;

/** Creates an ES module package that contains the tarball and the named packages. */
function install(name: string, ...more: string[]): string {
  const path = join(folder, name);
  cpSync(join(HERE, '.npmrc'), join(path, '.npmrc'));
  writeFileSync(join(path, 'package.json'), '{ "type": "module", "private": true }');
  run('npm', ['install', '--prefer-offline', tarball, ...more], { cwd: path });
  return path;
}

function versionOf(name: string): string {
  const locked = [ROOT, join(ROOT, 'bench')].map(
    (folder) => readJson<LockFile>(join(folder, 'package-lock.json')).packages[`node_modules/${name}`],
  );
  const version = locked.find((entry) => entry !== undefined)?.version;
  if (version === undefined) throw new Error(`${name} is in no lock file`);
  return version;
}

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly version: string }>>;
}
