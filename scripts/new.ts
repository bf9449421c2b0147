/**
 * Makes a project beside this one whose entity has another name. Usage:
 * `npm run new -- ../parcels --entity parcel [--plural parcels] [--name parcel-store]`.
 */

import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Names, namesOf } from './new/names.ts';
import { refuseTakenNames, refuseTarget, writeProject } from './new/project.ts';

const USAGE = 'npm run new -- FOLDER --entity NAME [--plural NAMES] [--name PROJECT]';

/** What the user can correct ends with status 2, as for the command of the project, and nothing is written. */
let exitCode = 2;
try {
  const { target, names, isPluralGiven } = readArguments();
  refuseTarget(target);
  refuseTakenNames(names);
  exitCode = 1;
  if (!isPluralGiven) console.log(`The plural of ${names.entity} is ${names.plural}: --plural changes it.`);
  console.log(`${writeProject(target, names)} files are written to ${target}.`);
  run(target, 'git', ['init', '--quiet', '--initial-branch=main']);
  run(target, 'git', ['add', '--all']);
  // The packages are those of this project, so a failure here is one of the network or of the disk.
  run(target, 'npm', ['ci', '--no-audit', '--no-fund']);
  run(target, 'npm', ['run', 'accept']);
  commit(target, names);
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

function run(target: string, command: string, values: readonly string[]): void {
  const { INIT_CWD: _, ...env } = process.env;
  try {
    execFileSync(command, values, { cwd: target, env, stdio: 'inherit' });
  } catch {
    throw new Error(
      `${command} ${values.join(' ')} failed in ${target}, where the files are: correct the cause and run it again`,
    );
  }
}

/** One commit, so that the first change of the new owner is seen as such. */
function commit(target: string, { project }: Names): void {
  run(target, 'git', ['add', '--all']);
  const identity = ['-c', `user.name=${project.join('-')}`, '-c', 'user.email=new@localhost'];
  run(target, 'git', [
    ...identity,
    'commit',
    '--quiet',
    '--message',
    `feat: ${project.join('-')}, made from animal-store`,
  ]);
}
