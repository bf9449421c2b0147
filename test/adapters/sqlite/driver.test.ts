import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { assertDriver } from '../../../src/adapters/sqlite/driver.ts';
import { temporaryFile } from './temporary-file.ts';

const ADAPTER = new URL('../../../src/adapters/sqlite/index.ts', import.meta.url);

/** Prints what a user learns from the library. */
const PROGRAM = `
  import { openSqliteStorage } from '${ADAPTER}';
  const messageOf = async (work) => work().then(() => 'done', ({ message, reason }) => [message, reason]);
  const pet = { name: 'Rex', categoryId: 1n, status: 'sold' };
  let storage;
  console.log(JSON.stringify({
    opened: await messageOf(async () => (storage = openSqliteStorage(process.argv[1]))),
    added: storage && await messageOf(() => storage.pets.add(pet)),
    checked: storage && await messageOf(() => storage.check()),
  }));
  process.exit();
`;

async function outputWith(preloaded: string): Promise<Readonly<Record<string, unknown>>> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', PROGRAM, temporaryFile()],
    { env: { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(preloaded)}` } },
  );
  return JSON.parse(stdout);
}

test('a binary of the driver that cannot be loaded is named', async () => {
  const output = await outputWith("process.dlopen = () => { throw new Error('invalid ELF header') };");
  const message =
    'the SQLite driver better-sqlite3 cannot be loaded: invalid ELF header: install it on this machine';
  expect(output).toMatchObject({ opened: [expect.stringContaining(message), null] });
});

test('a writer thread that does not start has stored nothing, and the store is not ready', async () => {
  const output = await outputWith(`import { isMainThread } from 'node:worker_threads';
    if (!isMainThread) throw new Error('no such module');`);
  const failure = [
    'nothing was stored, because the writer thread cannot start: no such module',
    'not_responding',
  ];
  expect(output).toMatchObject({ opened: 'done', added: failure, checked: failure });
});

test.each([
  [{ node: '20.20.2' }, true],
  [{ node: '22.11.9' }, true],
  [{ node: '22.12.0' }, false],
  [{ node: '20.20.2', bun: '1.4.5' }, false],
  [{ node: '20.20.2', deno: '2.9.6' }, false],
])('the driver would crash %j: %s', (versions, isRefused) => {
  if (isRefused)
    expect(() => assertDriver(versions)).toThrow(`expected Node.js 22.12 or later, got ${versions.node}`);
  else assertDriver(versions);
});
