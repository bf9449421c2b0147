/** Shared by the checks: the paths of the tarball and of its installations, and how to run a program there. */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

export const HERE: string = import.meta.dirname;
export const ROOT: string = join(HERE, '../..');

/** Folders in which `run.ts` has installed the tarball. */
export interface Stage {
  /** The folder that contains the installations, and is removed at the end. */
  readonly folder: string;
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
  /** The only folder in PATH. The environment is then {@link environmentWithoutNpm}. */
  readonly onlyPath?: string;
}

export function stage(): Stage {
  return JSON.parse(process.env['STAGE'] ?? '{}') as Stage;
}

/** Runs a program and returns its standard output. Throws with all output if the exit status is not 0. */
export function run(
  command: string,
  args: readonly string[],
  { cwd, env, node, onlyPath }: RunOptions,
): string {
  const path =
    onlyPath ?? [...(node === undefined ? [] : [dirname(node)]), process.env['PATH']].join(delimiter);
  const inherited = onlyPath === undefined ? process.env : environmentWithoutNpm();
  const { status, signal, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env: { ...inherited, ...env, PATH: path, NODE_TEST_CONTEXT: undefined },
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

/** Returns the environment without the settings that npm passes to its scripts, because they belong to another npm. */
export function environmentWithoutNpm(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:npm_.*|NODE)$/.test(name)));
}

export function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}
