/** Shared by the checks: the paths of the tarball and of its installations, and how to run a program there. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

export const HERE: string = import.meta.dirname;
export const ROOT: string = join(HERE, '../..');

/** Folders in which `run.ts` has installed the tarball. */
export interface Stage {
  readonly tarball: string;
  /** The tarball alone. */
  readonly installed: string;
  /** Without the optional driver. */
  readonly bare: string;
  /** With the frameworks that the API can be mounted in. */
  readonly hosting: string;
}

/** The supported versions of Node.js, each from its npm package. */
export const NODES: Readonly<Record<string, string>> = {
  22: join(HERE, 'node_modules/node-22/bin/node'),
  24: join(HERE, 'node_modules/node-24/bin/node'),
  26: join(ROOT, 'node_modules/node/bin/node'),
};

/** In milliseconds. A program that runs longer has hung. */
const TIMEOUT = 180_000;

interface RunOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The Node.js binary whose folder is first in PATH. */
  readonly node?: string;
}

export function stage(): Stage {
  return JSON.parse(process.env['STAGE'] ?? '{}') as Stage;
}

/** Runs a program and returns its standard output. Throws with all output if the exit status is not 0. */
export function run(command: string, args: readonly string[], { cwd, env, node }: RunOptions): string {
  const path = [...(node === undefined ? [] : [dirname(node)]), process.env['PATH']].join(delimiter);
  const { status, signal, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, ...env, PATH: path, NODE_TEST_CONTEXT: undefined },
    encoding: 'utf8',
    timeout: TIMEOUT,
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) {
    const end = error ?? `ended with ${signal ?? status}`;
    throw new Error(`${command} ${args.join(' ')}: ${end}\n${stdout}\n${stderr}`);
  }
  return stdout;
}

export function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}
