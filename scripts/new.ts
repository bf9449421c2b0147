/**
 * Makes a project beside this one whose entity has another name. Usage:
 * `npm run new -- ../parcels --entity parcel [--plural parcels] [--name parcel-store]`.
 */

import { execFileSync } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { git, withoutGit } from './git.ts';
import { type Names, namesOf } from './new/names.ts';
import { refuseTakenNames, refuseTarget, writeProject } from './new/project.ts';

const USAGE = 'npm run new -- FOLDER --entity NAME [--plural NAMES] [--name PROJECT]';

/** What the user can correct ends with status 2, as for the command of the project, and nothing is written. */
let exitCode = 2;
try {
  const { target, names, isPluralGiven } = readArguments();
  refuseTarget(target);
  refuseGitThatFails();
  refuseTakenNames(names);
  exitCode = 1;
  if (!isPluralGiven) console.log(`The plural of ${names.entity} is ${names.plural}: --plural changes it.`);
  make(target, names);
  console.log(`Done. Now: cd ${target} && npm start`);
} catch (error) {
  for (const line of (error as Error).message.split('\n')) console.error(`new: ${line}`);
  process.exitCode = exitCode;
}

function readArguments(): { target: string; names: Names; isPluralGiven: boolean } {
  const text = { type: 'string' } as const;
  const options = { entity: text, plural: text, name: text };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [target, ...others] = positionals;
  if (target === undefined || others.length > 0 || values.entity === undefined) {
    throw new Error(`expected a folder and --entity: ${USAGE}`);
  }
  const names = namesOf({ entity: values.entity, plural: values.plural, name: values.name });
  return {
    target: resolve(process.env['INIT_CWD'] ?? '.', target),
    names,
    isPluralGiven: values.plural !== undefined,
  };
}

/** Makes the project beside its place, which it gets when it is complete. After a failure, nothing is left. */
function make(target: string, names: Names): void {
  const folder = `${target}.new-${process.pid}`;
  try {
    console.log(`${writeProject(folder, names)} files are written.`);
    runGit(folder, 'init', '--quiet', '--initial-branch=main', '--template=');
    runGit(folder, 'add', '--all');
    // In the workspace of another project, npm would install the packages of that project.
    run(folder, 'npm', ['ci', '--no-audit', '--no-fund', '--no-workspaces']);
    run(folder, 'npm', ['run', 'accept', '--no-workspaces']);
    runGit(folder, 'add', '--all');
    // One commit, so that the first change of the new owner is seen as such.
    const project = names.project.join('-');
    const identity = ['-c', `user.name=${project}`, '-c', 'user.email=new@localhost'];
    runGit(folder, ...identity, 'commit', '--quiet', '--message', `feat: ${project}, made from animal-store`);
    renameSync(folder, target);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function refuseGitThatFails(): void {
  try {
    git('.', '--version');
  } catch (error) {
    throw new Error(`git is needed, and does not run: ${(error as Error).message}`);
  }
}

/** The owner's signing key, hooks and ignored files are for the owner's commits. */
function runGit(folder: string, ...args: readonly string[]): void {
  const settings = ['commit.gpgSign=false', 'core.hooksPath=/dev/null', 'core.excludesFile=/dev/null'];
  run(folder, 'git', [...settings.flatMap((setting) => ['-c', setting]), ...args]);
}

function run(folder: string, command: string, values: readonly string[]): void {
  const { INIT_CWD: _, ...env } = withoutGit(process.env);
  try {
    execFileSync(command, values, { cwd: folder, env, stdio: 'inherit' });
  } catch {
    throw new Error(
      `${command} ${values.join(' ')} failed, and nothing was made: correct the cause and try again`,
    );
  }
}
