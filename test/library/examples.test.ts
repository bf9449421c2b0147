/**
 * Compiles and runs the examples of the docstrings, and the blocks of JavaScript in the README and the manuals, with the built
 * package. An example must print what the comments behind `console.log` say.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer } from '../../src/adapters/http/index.ts';
import { createAnimalStore } from '../../src/library/index.ts';
import { wholeCode } from '../support/pets.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../support/postgres/index.ts';
import type { Outcome } from './run-examples.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDER = mkdtempSync(join(tmpdir(), 'animal-store-examples-'));
afterAll(() => rmSync(FOLDER, { recursive: true }));
mkdirSync(join(FOLDER, 'node_modules'));
symlinkSync(ROOT, join(FOLDER, 'node_modules/animal-store'), 'dir');
for (const name of ['koa', '@types'])
  symlinkSync(join(ROOT, 'node_modules', name), join(FOLDER, 'node_modules', name), 'dir');
writeFileSync(join(FOLDER, 'package.json'), '{ "type": "module" }');

/** An example of a method of `AnimalStore` uses this store. */
const STORE = `import { createAnimalStore } from 'animal-store';
await using store = await createAnimalStore({ database: 'sqlite:./pets.db' });
`;

const SERVER_URL = 'https://pets.example.org/v1';

const POSTGRES_URL = 'postgres://user:password@localhost/pets';

interface Example {
  readonly title: string;
  readonly code: string;
  readonly file: string;
}

/** The exported names that must have an example. */
const MAIN_NAMES =
  'createAnimalStore AnimalStoreError CreatePet petJson parsePet apiKeys createPet listPage ' +
  'importPets createFetchHandler openMemoryStorage openPostgresStorage openSqliteStorage petRepositoryContract';

const docstrings = globSync('src/**/*.ts', { cwd: ROOT }).flatMap(examplesOf);
const documents = ['README.md', ...globSync('docs/*.md', { cwd: ROOT }).toSorted()].flatMap(blocksOf);

/** Returns the examples in the docstrings of a module, with the name that each docstring describes. */
function examplesOf(module: string): Example[] {
  const source = readFileSync(join(ROOT, module), 'utf8');
  const found = source.matchAll(
    /\* @example\n *\* ```ts\n(?<lines>[\s\S]*?) *\* ```\n *\*\/\n *(?:(?:export|async|function|class|get) |\*)*(?<name>\w+)/g,
  );
  return [...found].map(({ groups: { lines = '', name = '' } = {} }, index) => {
    const code = wholeCode(lines.replaceAll(/^ *\* ?/gm, ''));
    const file = join(FOLDER, `${module.replaceAll(/\W/g, '-')}-${index}`, `${name}.ts`);
    return { title: name, code: code.startsWith('import ') ? code : STORE + code, file };
  });
}

function blocksOf(document: string): Example[] {
  const found = readFileSync(join(ROOT, document), 'utf8').matchAll(/^```js\n(.*?)^```$/gms);
  return [...found].map(([, code = ''], index) => {
    const title = `${document} ${index + 1}`;
    return { title, code: wholeCode(code), file: join(FOLDER, title.replaceAll(/\W/g, '-'), 'block.mjs') };
  });
}

/** Returns the comments that say what an example prints: behind a `console.log`, or in the next line. */
function expectedOutput(code: string): string[] {
  return [...code.matchAll(/console\.log\(.*\)[;,)](?: |\n)\/\/ (.*)$/gm)].map(([, line = '']) => line);
}

for (const { file, code } of [...docstrings, ...documents]) {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, code);
}

test('every main function has an example', () => {
  const titles = docstrings.map(({ title }) => title);
  for (const name of MAIN_NAMES.split(' ')) expect(titles).toContain(name);
  const tags = globSync('src/**/*.ts', { cwd: ROOT }).flatMap(
    (file) => readFileSync(join(ROOT, file), 'utf8').match(/@example/g) ?? [],
  );
  expect(tags).toHaveLength(docstrings.length);
});

test('the examples in docstrings are well typed', { timeout: 120_000 }, () => {
  const program = ts.createProgram(
    docstrings.map(({ file }) => file),
    {
      target: ts.ScriptTarget.ES2023,
      lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts'],
      module: ts.ModuleKind.NodeNext,
      types: ['node'],
      typeRoots: [join(ROOT, 'node_modules/@types')],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      skipLibCheck: true,
    },
  );
  const faults = ts.getPreEmitDiagnostics(program);
  expect(
    ts.formatDiagnostics(faults, { ...ts.sys, getCanonicalFileName: String, getNewLine: () => '\n' }),
  ).toBe('');
});

describe('the example of', () => {
  const examples = [...docstrings, ...documents];
  const outcomes = new Map<string, Outcome>();
  let end: { code: unknown; stderr: string };

  beforeAll(async () => {
    const files: string[] = [];
    const store = await createAnimalStore({ database: 'memory:' });
    const { key: API_KEY } = await store.apiKeys.create('examples');
    const server = createServer(store);
    const origin = await server.listen(0, '127.0.0.1');
    for (const { file, code } of examples) {
      if (needsPostgres(code) && !canRunPostgres) continue;
      if (code.includes(SERVER_URL)) writeFileSync(file, code.replaceAll(SERVER_URL, `${origin}/v1`));
      if (needsPostgres(code)) writeFileSync(file, code.replace(POSTGRES_URL, await newDatabaseUrl()));
      files.push(file);
    }
    const child = fork(join(import.meta.dirname, 'run-examples.ts'), files, {
      env: { ...process.env, API_KEY },
      execArgv: [],
      stdio: 'pipe',
    });
    let stderr = '';
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
    child.on('message', (outcome: Outcome) => outcomes.set(outcome.file, outcome));
    const [code] = await once(child, 'close');
    end = { code, stderr };
    await server.stop(100);
  }, 120_000);

  describe.each(examples)('$title', ({ code, file }) => {
    const note = needsPostgres(code) ? postgresNote : '';
    test.skipIf(note !== '')(`runs, and prints what its comments say${note}`, () => {
      const { lines, error } = outcomes.get(file) ?? { lines: [], error: 'it did not run' };
      expect(error).toBeUndefined();
      const expected = expectedOutput(code);
      if (expected.length > 0) expect(lines.join('\n').split('\n')).toEqual(expected);
    });
  });

  test('nothing is printed to standard error, and nothing keeps the process alive', () => {
    expect(end).toEqual({ code: 0, stderr: '' });
  });
});

function needsPostgres(code: string): boolean {
  return code.includes(POSTGRES_URL);
}
