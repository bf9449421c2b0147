/** What the checks share: where the tarball and its installations are, and how to run a program there. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

export const HERE: string = import.meta.dirname;
export const ROOT: string = join(HERE, '../..');

/** Folders with the tarball installed, made by `run.ts`. */
export interface Stage {
  readonly tarball: string;
  /** With nothing else. */
  readonly installed: string;
  /** Without what is optional. */
  readonly bare: string;
  /** Beside the servers that it can be mounted in. */
  readonly hosting: string;
}

/** The Node.js versions that the library is for, each from its npm package. */
export const NODES: Readonly<Record<string, string>> = {
  22: join(HERE, 'node_modules/node-22/bin/node'),
  24: join(HERE, 'node_modules/node-24/bin/node'),
  26: join(ROOT, 'node_modules/node/bin/node'),
};

/** A program that runs longer has hung. */
const TIMEOUT = 180_000;

interface RunOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The Node.js that stands first on the path. */
  readonly node?: string;
}

export function stage(): Stage {
  return JSON.parse(process.env['STAGE'] ?? '{}') as Stage;
}

/** What a program wrote to its standard output. Throws with all that it wrote when it did not end well. */
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
