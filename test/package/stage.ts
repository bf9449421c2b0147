/** Shared by the checks: the tarball, its installations, and how to run a program there. Vitest calls the setup once. */

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';

export const HERE: string = import.meta.dirname;
export const ROOT: string = join(HERE, '../..');

export interface Stage {
  /** The folder that contains the installations, and is removed at the end. */
  readonly folder: string;
  readonly tarball: string;
  /** A folder with the tarball alone, and {@link HERE}/programs. */
  readonly installed: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    stage: Stage;
  }
}

/** The supported versions of Node.js, each from its npm package. */
export const NODES: Readonly<Record<string, string>> = {
  22: join(HERE, 'node_modules/node-22/bin/node'),
  24: join(HERE, 'node_modules/node-24/bin/node'),
  26: join(ROOT, 'node_modules/node/bin/node'),
};

/** In milliseconds. A program that runs longer has hung. On a busy machine, an installation takes minutes. */
export const TIMEOUT = 900_000;

/** Packs what is built, and installs it as a user would. */
export default async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-package-'));
  const pack = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
  const tarball = join(folder, (await run('npm', pack, { cwd: ROOT })).trim());
  const installed = await install(folder, 'installed', tarball);
  project.provide('stage', { folder, tarball, installed });
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Creates an ES module package that contains the tarball, the named packages and the programs. Returns its path. */
export async function install(
  folder: string,
  name: string,
  tarball: string,
  ...more: string[]
): Promise<string> {
  const path = join(folder, name);
  cpSync(join(HERE, 'programs'), path, { recursive: true });
  cpSync(join(HERE, '.npmrc'), join(path, '.npmrc'));
  writeFileSync(join(path, 'package.json'), '{ "type": "module", "private": true }');
  await run('npm', ['install', '--prefer-offline', tarball, ...more], { cwd: path });
  return path;
}

interface RunOptions {
  readonly cwd: string;
  /** The Node.js binary whose folder is first in PATH. */
  readonly node?: string;
  /** The only folder in PATH. The environment is then {@link environmentWithoutNpm}. */
  readonly onlyPath?: string;
}

/** Runs a program and returns its standard output. Rejects with all output if the exit status is not 0. */
export function run(
  command: string,
  args: readonly string[],
  { cwd, node, onlyPath }: RunOptions,
): Promise<string> {
  const path =
    onlyPath ?? [...(node === undefined ? [] : [dirname(node)]), process.env['PATH']].join(delimiter);
  const inherited = onlyPath === undefined ? process.env : environmentWithoutNpm();
  const options = { cwd, env: { ...inherited, PATH: path }, timeout: TIMEOUT, maxBuffer: 2 ** 26 };
  return new Promise((resolve, reject) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${command} ${args.join(' ')}: ${error.message}\n${stdout}\n${stderr}`));
    });
  });
}

/** Returns the environment without the settings that npm passes to its scripts, because they belong to another npm. */
export function environmentWithoutNpm(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:npm_.*|NODE)$/.test(name)));
}

export function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}
