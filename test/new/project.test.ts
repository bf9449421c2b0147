/** Makes a project of parcels, and checks that it is one: its names, its types, and the tests of its core. */

import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { attributesOf } from '../../scripts/new/attributes.ts';
import { namesOf } from '../../scripts/new/names.ts';
import { OWN, PARTS, type PartName } from '../../scripts/new/parts.ts';
import { filesOf, ROOT, refuseProjectName, writeFiles } from '../../scripts/new/project.ts';
import { isNamed } from '../../scripts/new/rename.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { faultsOf } from './compile.ts';

const run = promisify(execFile);
const NAMES = namesOf({ entity: 'parcel' });
const folder = mkdtempSync(join(tmpdir(), 'new-project-'));
const target = join(folder, 'parcels');

beforeAll(() => {
  writeFiles(target, filesOf(NAMES));
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
  const left = files.filter(({ path, text }) => path !== 'LICENSE' && (isNamed(path) || isNamed(text)));
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

test('each path of a part and of what is left out exists', () => {
  const paths = [...OWN, ...Object.values(PARTS).flat()];
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

// Each takes half a minute on a quiet machine.
const TRIED: readonly PartName[] = IS_WHOLE ? (Object.keys(PARTS) as PartName[]) : [];
test.each(TRIED)('without %s, its types pass', { timeout: 600_000 }, (part) => {
  expect(faultsOf(NAMES, undefined, [part])).toEqual([]);
});

const LISTS = [
  'title:text(1..200), pages:integer(1..5000)?, shelf:one of(fiction, science)=fiction, lent:boolean=false, dueAt:timestamp?',
  'title:text(1..10)',
  'amount:int64, paidAt:timestamp filter, paid:boolean filter',
  'title:text(0..10)?, count:integer?, kind:one of(a-b, c)?',
];
test.each(IS_WHOLE ? LISTS : LISTS.slice(0, 1))('with %s, its types pass', { timeout: 600_000 }, (list) => {
  const faults = faultsOf(NAMES, undefined, [], attributesOf(list));
  expect(faults.filter((fault) => !/^\S*(?:test\/|demo)/.test(fault))).toEqual([]);
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

test.each(['koa', 'fs'])('a project that imports %s cannot have this name', (name) => {
  expect(() => refuseProjectName(namesOf({ entity: 'parcel', name }))).toThrow(
    `--name ${name}: the project imports a package of this name: choose another one`,
  );
});
