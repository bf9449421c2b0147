/** Runs Git for the repository of a folder, even if environment variables such as `GIT_DIR` name another repository. */

import { execFileSync } from 'node:child_process';

/** Returns the environment without the variables of Git, such as `GIT_DIR`, which Git sets for hooks. */
export function withoutGit(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('GIT_')));
}

export function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd, env: withoutGit(process.env), encoding: 'utf8', stdio: 'pipe' });
}

/** Returns the paths of the files that Git tracks below a folder. */
export function trackedFiles(cwd: string): string[] {
  return git(cwd, 'ls-files', '-z').split('\0').slice(0, -1);
}
