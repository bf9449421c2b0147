/** Each start that fails names the setting or the file in one line, and prints no stack. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { lines, Workspace } from '../e2e/workspace.ts';
import { listen } from '../support/sockets.ts';

type Case = [name: string, make: (work: Workspace) => void | Promise<void>];

const NEWER = 'PRAGMA application_id = 1346720851; PRAGMA user_version = 99';

interface Refusal {
  readonly status?: number;
  readonly work?: Workspace;
  readonly args?: readonly string[];
}

/** Runs `serve`, which must fail. Returns the lines of the error. */
async function refusal(
  environment: Readonly<Record<string, string>>,
  { status = 1, work = new Workspace(), args = [] }: Refusal = {},
): Promise<string[]> {
  const run = await work.runHere(['serve', ...args], '', { PORT: '0', ...environment });
  expect([run.status, run.out]).toEqual([status, '']);
  const found = run.err.trimEnd().split('\n');
  for (const line of found) expect(line).toMatch(/^animal-store: \S.*/);
  expect(run.err).not.toMatch(/^\s+at |node:internal|\.[jt]s:\d/m);
  return found;
}

describe('a start that fails', () => {
  test('names a port that is in use, and a host that is not available', async () => {
    const { port } = new URL(await listen(createServer()));
    expect(await refusal({ PORT: port })).toEqual([
      `animal-store: cannot listen on port ${port} of 127.0.0.1: listen EADDRINUSE: address already in use 127.0.0.1:${port}: select another port or address with PORT and HOST, or --port and --host`,
    ]);
    expect(await refusal({ HOST: '192.0.2.1', DATABASE_URL: 'memory:' })).toEqual([
      expect.stringMatching(/: cannot listen on port 0 of 192\.0\.2\.1: .*EADDRNOTAVAIL.*: select another /),
    ]);
    expect(await refusal({ HOST: 'no-such-host.invalid', DATABASE_URL: 'memory:' })).toEqual([
      expect.stringMatching(/: cannot listen on port 0 of no-such-host\.invalid: .*(ENOTFOUND|EAI_AGAIN)/),
    ]);
  });

  test.each([
    ['a text file', ({ store }) => writeFileSync(store, 'this is no database, it is a text. '.repeat(100))],
    ['a database of another application', ({ store }) => makeDatabase(store, 'CREATE TABLE t (x)')],
    ['a store of a newer release', ({ store }) => makeDatabase(store, NEWER)],
    ['a damaged store', (work) => makeDamaged(work, (bytes) => bytes.fill(0xa5, 8192, 16_384))],
    ['a truncated store', (work) => makeDamaged(work, (bytes) => bytes.subarray(0, 12_288))],
  ] satisfies Case[])('names the file when it is %s', async (_case, make) => {
    const work = new Workspace();
    await make(work);
    expect(await refusal({}, { work })).toEqual([expect.stringContaining(`DATABASE_URL: ${work.store}`)]);
  });

  test('says that a folder is no store', async () => {
    const work = new Workspace();
    mkdirSync(work.store);
    const message = `animal-store: DATABASE_URL: ${work.store}: expected a file, got a directory`;
    expect(await refusal({}, { work })).toEqual([message]);
    expect((await work.runHere(['keys', 'list'])).err).toBe(`${message}\n`);
  });

  test('names the folder that cannot be created, and the setting of the store', async () => {
    const work = new Workspace();
    writeFileSync(work.path('file'), '');
    const path = join(work.path('file'), 'pets.db');
    const DATABASE_URL = `sqlite:${path}`;
    expect(await refusal({ DATABASE_URL })).toEqual([
      expect.stringMatching(`^animal-store: DATABASE_URL: ${path}: `),
    ]);
    expect(await refusal({}, { args: ['--database-url', DATABASE_URL] })).toEqual([
      expect.stringMatching(`^animal-store: --database-url: ${path}: `),
    ]);
  });
});

function makeDatabase(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

async function makeDamaged(work: Workspace, damage: (bytes: Buffer) => Buffer): Promise<void> {
  await work.outputHere(['import', '--create-store', '-'], lines(1000));
  writeFileSync(work.store, damage(readFileSync(work.store)));
}
