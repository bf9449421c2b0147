/** Makes a project of parcels, and checks that it is one: its names, its types, and the tests of its core. */

import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { git, withoutGit } from '../../scripts/git.ts';
import { namesOf } from '../../scripts/new/names.ts';
import { ROOT, refuseTakenNames, writeProject } from '../../scripts/new/project.ts';
import { wordsOf } from '../../scripts/new/taken.ts';

const run = promisify(execFile);
const NAMES = namesOf({ entity: 'parcel' });
const folder = mkdtempSync(join(tmpdir(), 'new-project-'));
const target = join(folder, 'parcels');

beforeAll(() => {
  writeProject(target, NAMES);
  symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function read(path: string): string {
  return readFileSync(join(target, path), 'utf8');
}

function textFiles(): { path: string; text: string }[] {
  const paths = readdirSync(target, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(target.length + 1));
  return paths.map((path) => ({ path, text: read(path) }));
}

test('no identifier, file, column or text speaks of pets', () => {
  const files = textFiles();
  const words = wordsOf(files);
  expect(['pet', 'pets', 'animal', 'animals'].filter((word) => words.has(word))).toEqual([]);
  const left = files.filter(({ path, text }) => path !== 'LICENSE' && /\b(?:pets?|animals?)\b/i.test(text));
  expect(left.map(({ path }) => path)).toEqual([]);
  expect(read('LICENSE')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'));
});

test('its databases are other ones: the id of the application and the number of the lock', () => {
  const own = (root: string) => [
    /APPLICATION_ID = (\S+)/.exec(readFileSync(join(root, 'src/adapters/sqlite/schema.ts'), 'utf8'))?.[1],
    ...new Set(
      textsBelow(join(root, 'src/adapters/postgres')).flatMap(
        (text) => text.match(/advisory_xact_lock\(\d+/g) ?? [],
      ),
    ),
  ];
  const [before, after] = [own(ROOT), own(target)];
  expect(before.length).toBeGreaterThan(1);
  expect(after).toHaveLength(before.length);
  for (const [index, number] of before.entries()) expect(after[index]).not.toBe(number);
});

function textsBelow(path: string): string[] {
  return readdirSync(path, { encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(path, name), 'utf8'));
}

test('each path that docs/make-it-yours.md deletes exists', () => {
  const commands = read('docs/make-it-yours.md').match(/^npm run without -- (?:.*\\\n)*.*$/gm) ?? [];
  expect(commands).toHaveLength(3);
  for (const command of commands) {
    const list = command.replaceAll('\\\n', '').replace('npm run without --', "printf '%s\\n'");
    const [, ...paths] = execFileSync('bash', ['-O', 'failglob', '-c', list], {
      cwd: target,
      encoding: 'utf8',
    })
      .trim()
      .split('\n');
    expect(paths.filter((path) => !existsSync(join(target, path)))).toEqual([]);
  }
});

test('its schema has one migration for each engine, and no past', () => {
  for (const engine of ['sqlite', 'postgres']) {
    const schema = read(`src/adapters/${engine}/schema.ts`);
    expect(schema).toMatch(/^const FIRST_VERSION = 1;$/m);
    expect(schema).not.toContain('older-schemas');
  }
  expect(read('CHANGELOG.md')).not.toMatch(/[1-9]\.\d/);
  const paths = textFiles().map(({ path }) => path);
  expect(
    paths.filter((path) => /older-s|scripts\/new|test\/new|benchmark\.svg|performance\.md/.test(path)),
  ).toEqual([]);
});

test('its package has its own name, and no command that makes projects', () => {
  const about = JSON.parse(read('package.json'));
  expect([about.name, about.version, Object.keys(about.bin)]).toEqual([
    'parcel-store',
    '0.1.0',
    ['parcel-store'],
  ]);
  expect(about.scripts.new).toBeUndefined();
  expect(JSON.parse(read('package-lock.json')).packages[''].version).toBe('0.1.0');
});

// The compiler and another test run take minutes on a busy machine.
test('its types pass, and the tests of its core', { timeout: 600_000 }, async () => {
  const inProject = { cwd: target, env: { ...process.env, NODE_COMPILE_CACHE: '' } };
  const { faults } = await run('npx', ['tsc', '-p', 'tsconfig.json'], inProject).then(
    () => ({ faults: '' }),
    ({ stdout }) => ({ faults: stdout as string }),
  );
  expect(faults, 'the project has only the files that git knows: git add new ones first').toBe('');
  const { stdout } = await run('npx', ['vitest', 'run', '--project', 'core'], inProject);
  expect(stdout).toMatch(/^\d+ passed, 0 failed$/m);
});

test.each(['order', 'class', 'select', 'page', 'store', 'status', 'key', 'category'])(
  '%s is a name that is taken',
  (entity) => {
    expect(() => refuseTakenNames(namesOf({ entity, plural: 'parcels' }))).toThrow(
      new RegExp(`^${entity} is a .*: choose another word$`),
    );
  },
);

test('the project and its entity have different names', () => {
  expect(() => refuseTakenNames(namesOf({ entity: 'parcel', name: 'parcels' }))).toThrow(
    '--name parcels: expected another name than that of the entity',
  );
});

test('what is refused ends the command with status 2 and one line, and nothing is written', async () => {
  const used = mkdtempSync(join(folder, 'used-'));
  writeFileSync(join(used, 'file'), 'mine');
  const free = join(folder, 'free');
  const inside = join(ROOT, 'parcels');
  for (const [args, message] of [
    [['--entity', 'parcel'], 'expected a folder and --entity: npm run new -- FOLDER --entity NAME'],
    [[free, '--entity', 'parcel', '--force'], "Unknown option '--force'"],
    [[free, '--entity', 'series'], '--entity series: its plural is not certain'],
    [[free, '--entity', 'city'], '--entity city: its plural is not certain'],
    [[free, '--entity', 'order'], 'order is a keyword of SQL: choose another word'],
    [[used, '--entity', 'parcel'], `${used}: the folder is not empty, and nothing is overwritten`],
    [[inside, '--entity', 'parcel'], `${inside}: expected a folder outside this project`],
  ] as const) {
    const failure = await run(process.execPath, ['scripts/new.ts', ...args], { cwd: ROOT }).catch(
      (error) => error,
    );
    expect([failure.code, failure.stdout]).toEqual([2, '']);
    expect(failure.stderr).toMatch(/^(?:new: .*\n)+$/);
    expect(failure.stderr).toContain(message);
  }
  expect([existsSync(free), existsSync(inside), readdirSync(used)]).toEqual([false, false, ['file']]);
});

/** Packages are not installed: `npm` is a program that ends with a status. */
test('a failure leaves nothing, and no setting of the user stands in the way', async () => {
  const home = mkdtempSync(join(folder, 'home-'));
  const made = join(home, 'parcels');
  const other = join(home, 'other.git');
  execFileSync('git', ['init', '--quiet', '--bare', other], { env: withoutGit(process.env) });
  writeFileSync(join(home, '.gitconfig'), '[commit]\n gpgSign = true\n[user]\n signingKey = none\n');
  const make = (npm: string) => {
    writeFileSync(join(home, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
    const path = `${home}:${process.env['PATH']}`;
    const env = { ...process.env, PATH: path, HOME: home, GIT_DIR: other };
    return run(process.execPath, ['scripts/new.ts', made, '--entity', 'parcel'], { cwd: ROOT, env });
  };
  const failure = await make('exit 1').catch((error) => error);
  expect([failure.code, failure.stderr]).toEqual([1, expect.stringContaining('nothing was made')]);
  expect(readdirSync(home).toSorted()).toEqual(['.gitconfig', 'npm', 'other.git']);
  await make('exit 0');
  expect(git(made, 'log', '--format=%s')).toBe('feat: parcel-store, made from animal-store\n');
  expect(git(made, 'status', '--porcelain')).toBe('');
  expect(readdirSync(join(other, 'refs/heads'))).toEqual([]);
});
