/** What a run was made on: enough to compare runs, nothing that tells whose machine it was. */

import { readFileSync } from 'node:fs';
import { arch, cpus, platform, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { fsyncTime } from './data.ts';
import { generator } from './load/closed.ts';
import { isPinned } from './processes.ts';

const ROOT = join(import.meta.dirname, '..');
const PACKAGES = ['fastify', 'express', 'koa', '@koa/router', 'koa-bodyparser', 'valibot', 'better-sqlite3'];

/** Faster than any disk, in milliseconds. */
const FSYNC_OF_A_DISK = 0.005;

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly node: string;
  readonly generator: string;
  /** Whether servers and load each had a core of their own. */
  readonly isPinned: boolean;
  /** What one fsync takes, in milliseconds. */
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
      ...Object.fromEntries(PACKAGES.map((name) => [name, versionOf(join(ROOT, 'node_modules', name))])),
    },
  };
}

function versionOf(folder: string): string {
  return String(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version);
}

export function machineText(machine: Machine): string {
  const { cpu, cores, memoryGb, system, node, generator: load, isPinned: pinned, fsync, versions } = machine;
  return [
    `${cpu}, ${cores} cores, ${memoryGb} GB; ${system}; Node.js ${node}`,
    `load: ${load}; ${pinned ? 'server and load pinned to a core each' : 'not pinned'}; one fsync: ${fsync} ms`,
    ...(fsync < FSYNC_OF_A_DISK ? ['the temporary folder is in memory: set TMPDIR to one on a disk'] : []),
    Object.entries(versions)
      .map((entry) => entry.join(' '))
      .join(', '),
  ].join('\n');
}
