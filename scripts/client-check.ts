/** Packs the client, installs the package in an empty folder, and uses it against a server. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { CLIENT_PACKAGE, clientFiles, writeClientPackage } from './client-package.ts';
import { tarballFaults } from './tarball.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** The maximum size of the installed package, in bytes. A package of this size takes no noticeable time to install. */
const INSTALLED_LIMIT = 200_000;

const API_KEY = 'a-key-of-at-least-32-visible-characters';

/** Returns a description of each fault of the client's package. Prints the size of the package. */
export async function clientPackageFaults(): Promise<string[]> {
  writeClientPackage();
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-client-'));
  try {
    const faults = await check(folder);
    return faults.map((fault) => `animal-store-client: ${fault}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function check(folder: string): Promise<string[]> {
  const faults: string[] = [];
  const tarball = join(
    folder,
    run('npm', ['pack', '--silent', '--pack-destination', folder], CLIENT_PACKAGE),
  );
  const entries = run('tar', ['-tzf', tarball], folder).split('\n');
  const packed = entries.map((entry) => entry.replace(/^package\//, ''));
  faults.push(...tarballFaults(packed, [...clientFiles(), 'LICENSE', 'README.md', 'package.json']));

  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }');
  const install = [
    'install',
    '--offline',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--silent',
    tarball,
  ];
  run('npm', install, folder);
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, unknown>;
  };
  const names = Object.keys(packages).filter((path) => path !== '');
  if (names.join() !== 'node_modules/animal-store-client') faults.push(`it installs ${names.join(', ')}`);
  const installed = join(folder, 'node_modules/animal-store-client');
  const bytes = globSync('**/*', { cwd: installed })
    .map((file) => statSync(join(installed, file)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
  console.log(
    `animal-store-client: ${names.length} package, ${bytes} bytes installed, ${statSync(tarball).size} bytes packed`,
  );
  if (bytes > INSTALLED_LIMIT) faults.push(`it has ${bytes} bytes`);

  cpSync(join(ROOT, 'test/package/programs/client.ts'), join(folder, 'client.ts'));
  const strict = [
    '--strict',
    '--exactOptionalPropertyTypes',
    '--skipLibCheck',
    'false',
    '--target',
    'es2022',
  ];
  const platform = ['--module', 'nodenext', '--lib', 'es2022,dom'];
  run(join(ROOT, 'node_modules/.bin/tsc'), [...strict, ...platform, 'client.ts'], folder);
  const printed = await withServer((address) =>
    run(process.execPath, ['client.js', address, API_KEY], folder),
  );
  if (printed !== 'done') faults.push(`the program printed ${printed}`);
  return faults;
}

async function withServer(use: (address: string) => string): Promise<string> {
  const server = spawn(process.execPath, [join(ROOT, 'bin/animal-store.js'), 'serve'], {
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: 'memory:',
      API_KEYS: API_KEY,
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(server, 'exit');
  try {
    for await (const line of createInterface(server.stdout)) {
      const address = /^Listening on (http:\S+)$/.exec(line)?.[1];
      if (address !== undefined) return use(address);
    }
    return 'nothing, because the server ended';
  } finally {
    server.kill();
    await exited;
  }
}

/** Runs a program, and returns its trimmed standard output. Throws with all of its output if it fails. */
function run(command: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} failed:\n${stdout}${stderr}`, { cause: error });
  }
}
