/**
 * Creates a new project: a copy of this one with another name for the entity. Usage: `npm run new -- ../parcels --entity parcel
 * [--plural parcels] [--name parcel-store] [--attributes 'weight:int64, …'] [--with PART,…]`.
 */

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { withoutGit } from './git.ts';
import { attributesOf, COUNT_MAX, COUNTING, NAME_RULE, refuseFilters, VALUE_RULE } from './new/attributes.ts';
import { namesOf, nounsText } from './new/names.ts';
import { NAMES, partsOf } from './new/parts.ts';

const USAGE =
  'npm run new -- FOLDER --entity NAME [--plural NAMES] [--name PROJECT] [--attributes LIST] [--with PART,...]';
const HELP = `Usage: ${USAGE}

For example: npm run new -- ../books --entity book --attributes 'title:text(1..200), dueAt:timestamp?' --with page
Attributes: text(MIN..MAX), integer(MIN..MAX), int64, one of(A, B), boolean and timestamp, at most ${COUNT_MAX}. ? makes an attribute
optional, =VALUE gives a default, and filter adds a filter to lists.
The name of an attribute has ${NAME_RULE}.
The words pet and animal, and names that SQL, JavaScript, the API or the command use, such as order or active, are refused.
A value of one of has ${VALUE_RULE}.
Expected: ${COUNTING}.
Parts: ${NAMES.join(', ')}.
docs/make-it-yours.md explains them.`;
const CALLER = process.env['INIT_CWD'] ?? process.cwd();
const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

const stop = new AbortController();
for (const name of SIGNALS) process.once(name, () => stop.abort(name));

/**
 * The exit code after an error. As in `animal-store`, it is 2 for an error that the user can correct. No file is written before
 * such an error.
 */
let exitCode = 2;
try {
  const given = readArguments();
  if (given === undefined) console.log(HELP);
  else await makeProject(given);
} catch (error) {
  if (stop.signal.aborted) process.kill(process.pid, stop.signal.reason);
  for (const line of (error as Error).message.split('\n')) console.error(`new: ${line}`);
  process.exitCode = exitCode;
}

async function makeProject({ target, names, parts, added, attributes }: Given): Promise<void> {
  const { filesOf, refuseProjectName, refuseTarget, writeFiles } = await loadGenerator();
  refuseTarget(target);
  refuseProjectName(names);
  refuseFilters(names, attributes);
  console.log(nounsText(names));
  if (added.length > 0) console.log(`Parts that others need are added: ${added.join(', ')}.`);
  const files = filesOf(names, parts, attributes);
  exitCode = 1;
  await make(target, async (folder) => {
    console.log(`Writing ${files.length} files.`);
    writeFiles(folder, files);
    console.log('Formatting the code.');
    await formatCode(folder);
    console.log('Writing the OpenAPI document.');
    await writeDocument(folder);
    console.log(await commit(folder, dirname(target), names.project.join('-')));
    // Another program may have used the folder in the meantime.
    refuseTarget(target);
  });
  const path = relative(CALLER, target);
  const made = /^(?:\.\.\/\.\.|$)/.test(path) ? target : path;
  const quoted = /^[\w./-]+$/.test(made) ? made : `'${made.replaceAll("'", "'\\''")}'`;
  console.log(`Done: cd ${quoted} && npm ci && npm start`);
}

type Given = NonNullable<ReturnType<typeof readArguments>>;

/** Returns `undefined` if the user asks for help. */
function readArguments() {
  const text = { type: 'string' } as const;
  const names = { entity: text, plural: text, name: text };
  const help = { type: 'boolean', short: 'h' } as const;
  const options = { ...names, attributes: text, with: { ...text, multiple: true }, help } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) return;
  const [target] = positionals;
  if (target === undefined || values.entity === undefined) {
    throw new Error(`expected a folder and --entity: ${USAGE}`);
  }
  if (positionals.length > 1) {
    const given = positionals.map((each) => `'${each}'`).join(' and ');
    throw new Error(
      `expected one folder, got ${given}: quote a name of several words, and write several parts as --with page,client`,
    );
  }
  const named: readonly string[] = (values.with ?? []).flatMap((value) => value.split(','));
  const parts = partsOf(named);
  return {
    target: resolve(CALLER, target),
    names: namesOf({ entity: values.entity, plural: values.plural, name: values.name }),
    attributes: values.attributes === undefined ? [] : attributesOf(values.attributes),
    parts,
    added: parts.filter((part) => !named.includes(part)),
  };
}

/** The generator needs the TypeScript compiler, which `npm ci` installs. */
async function loadGenerator(): Promise<typeof import('./new/project.ts')> {
  try {
    return await import('./new/project.ts');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error('the packages of this project are missing: run npm ci first');
  }
}

/** Makes the project in a temporary folder, and renames it at the end. A failure or a signal leaves no file. */
async function make(target: string, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = join(dirname(target), `.${basename(target)}.new-${process.pid}`);
  const made = mkdirSync(folder, { recursive: true }) ?? folder;
  try {
    await work(folder);
    // Before the folder is renamed, lets Node.js handle a signal that arrived during the synchronous writes.
    await new Promise(setImmediate);
    stop.signal.throwIfAborted();
    renameSync(folder, target);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    for (let parent = dirname(folder); parent.length >= made.length; parent = dirname(parent)) {
      if (readdirSync(parent).length > 0) break;
      rmdirSync(parent);
    }
    throw error;
  }
}

/** Formats the code, because the new names change the length of lines and the order of imports. */
async function formatCode(folder: string): Promise<void> {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const options = ['--write', '--log-level=error', '.'];
  await run(folder, process.execPath, [biome, 'lint', '--only=style/useImportType', ...options]);
  // Long names can need a second pass: Biome treats some line breaks of its first pass as if an author had written them.
  for (const _ of [1, 2])
    await run(folder, process.execPath, [biome, 'check', '--linter-enabled=false', ...options]);
}

/**
 * Generates the OpenAPI document from the code of the new project, which uses the packages of this project through a temporary
 * link.
 */
async function writeDocument(folder: string): Promise<void> {
  const packages = join(folder, 'node_modules');
  symlinkSync(join(import.meta.dirname, '../node_modules'), packages);
  await run(folder, process.execPath, ['scripts/tables.ts']);
  rmSync(packages);
}

/** Commits the new files, so that the owner can tell later changes apart from them. Returns a sentence about the result. */
async function commit(folder: string, parent: string, project: string): Promise<string> {
  if (await isInRepository(parent)) return 'The folder is in a repository of Git: nothing is committed.';
  // This commit is not the owner's, so it does not use the owner's signing key, hooks or ignore rules.
  const settings = ['commit.gpgSign=false', 'core.hooksPath=/dev/null', 'core.excludesFile=/dev/null'];
  const identity = [`user.name=${project}`, 'user.email=new@localhost'];
  const git = (...args: string[]) =>
    run(folder, 'git', [...[...settings, ...identity].flatMap((each) => ['-c', each]), ...args]);
  try {
    await git('init', '--quiet', '--initial-branch=main', '--template=');
    await git('add', '--all');
    await git('commit', '--quiet', '--message', `feat: ${project}, made from animal-store`);
    return 'One commit is made.';
  } catch (error) {
    stop.signal.throwIfAborted();
    rmSync(join(folder, '.git'), { recursive: true, force: true });
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return `Nothing is committed: ${isMissing ? 'Git is not installed' : (error as Error).message}`;
  }
}

async function isInRepository(folder: string): Promise<boolean> {
  if (!existsSync(folder)) return isInRepository(dirname(folder));
  return run(folder, 'git', ['rev-parse', '--git-dir']).then(
    () => true,
    () => false,
  );
}

async function run(folder: string, command: string, values: readonly string[]): Promise<void> {
  const env = withoutGit(process.env);
  await promisify(execFile)(command, values, { cwd: folder, env, signal: stop.signal });
}
