/** Installs the programs of the failover test from the packages of Debian or Ubuntu. */

import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGES = ['postgresql', 'patroni', 'etcd-server', 'haproxy'];

/** The folders of programs that only root uses are not on the path of other users. */
export const PATH: string = `${process.env['PATH']}:/usr/sbin:/sbin`;

/** Vitest calls this function once, before the tests. */
export default function setup(): void {
  if (missingPrograms() === '') return;
  const isRoot = process.getuid?.() === 0;
  const [command = '', ...args] = isRoot ? ['sh'] : ['sudo', '-n', 'sh'];
  if (process.platform !== 'linux' || !canRun('apt-get') || !canRun(command)) return;
  const script = join(import.meta.dirname, 'install.sh');
  spawnSync(command, [...args, script, ...PACKAGES], { stdio: 'inherit' });
}

/** Returns the names of the missing programs, or an empty text. */
export function missingPrograms(): string {
  const missing = ['patroni', 'patronictl', 'etcd', 'haproxy'].filter((name) => !canRun(name));
  return (postgresPrograms() === undefined ? ['postgres', ...missing] : missing).join(', ');
}

/** Returns the folder of the programs of the newest installed PostgreSQL. */
export function postgresPrograms(): string | undefined {
  return globSync('/usr/lib/postgresql/*/bin')
    .filter((folder) => existsSync(join(folder, 'postgres')))
    .sort((a, b) => versionOf(b) - versionOf(a))[0];
}

function versionOf(folder: string): number {
  return Number(folder.split('/').at(-2));
}

function canRun(name: string): boolean {
  return PATH.split(':').some((folder) => existsSync(join(folder, name)));
}
