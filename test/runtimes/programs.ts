/** Starts the runtimes, which `npm ci` installs in this folder without running scripts. */

import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runCommand } from '../support/process.ts';

export const HERE: string = import.meta.dirname;
export const ROOT: string = resolve(HERE, '../..');

/** The command that runs a program on each runtime. Without its flag, `bun` would leave a program to Node.js. */
export const COMMANDS: Readonly<Record<'bun' | 'deno' | 'workerd', readonly string[]>> = {
  bun: [binary('@oven/bun-*/bin/bun'), '--bun'],
  deno: [binary('@deno/*/deno'), 'run', '--allow-all', '--node-modules-dir=manual'],
  workerd: [binary('@cloudflare/workerd-*/bin/workerd'), 'serve'],
};

/** Returns the path of a program in the package for this platform. */
function binary(pattern: string): string {
  const [found] = globSync(pattern, { cwd: join(HERE, 'node_modules') });
  return found === undefined ? `no ${pattern}` : join(HERE, 'node_modules', found);
}

/** Starts a program, which is killed at the end of the test. Returns a function that returns its output so far. */
export function start(
  [command, ...args]: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): () => string {
  const env = { ...process.env, NO_COLOR: '1', ...options.env } as Record<string, string>;
  const { out } = runCommand(command as string, args, { cwd: options.cwd, env });
  return () => out.stdout + out.stderr;
}
