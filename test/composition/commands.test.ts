/** The commands with the parts of the program: which store they use, and how they name a wrong setting. */

import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createCommands } from '../../src/composition/commands.ts';
import { commandLine } from '../adapters/cli/cli.ts';
import { Workspace } from '../e2e/workspace.ts';
import { CHANGING_SETTINGS } from '../support/lifecycle.ts';
import { clientOf, startInProcess } from '../support/service.ts';
import { listen } from '../support/sockets.ts';

describe('the store of a command', () => {
  test('cannot be memory:', async () => {
    for (const command of ['keys list', 'keys create --name x', 'import -', 'export', 'backup x']) {
      expect(await new Workspace().runHere([...command.split(' '), '--database-url', 'memory:'])).toEqual({
        status: 2,
        out: '',
        err: expect.stringMatching(
          /^animal-store: --database-url: memory: is supported by serve and doctor only.*\n$/,
        ),
      });
    }
  });

  test.each([
    ['--database-url', true],
    ['DATABASE_URL', false],
  ])('is not created by keys create and import when %s is mistyped', async (source, isOption) => {
    const work = new Workspace();
    const url = `sqlite:${work.path('no/x.db')}`;
    const flags = isOption ? ['--database-url', url] : [];
    const environment = isOption ? {} : { DATABASE_URL: url };
    for (const command of [
      ['keys', 'create', '--name', 'x'],
      ['import', '-'],
    ])
      expect(await work.runHere([...command, ...flags], '', environment)).toEqual({
        status: 1,
        out: '',
        err: `animal-store: ${source}: ${work.path('no/x.db')}: there is no such file. Check this location, or create a store there with --create-store\n`,
      });
    expect(existsSync(work.path('no'))).toBe(false);
  });
});

test.each([
  ['backup', 'pg_dump'],
  ['restore', 'pg_restore'],
])('%s of PostgreSQL is refused before a connection, and names %s', async (command, tool) => {
  const args = [command, '/no/such/file', '--database-url', 'postgres://127.0.0.1:1/pets'];
  expect(await new Workspace().runHere(args)).toEqual({
    status: 2,
    out: '',
    err: `animal-store: ${command} is not supported by this storage: use ${tool}\n`,
  });
});

test('restore replaces the store that the settings select', async () => {
  const work = new Workspace();
  await work.addPets(1);
  await work.outputHere(['backup', work.path('backup.db')]);
  const before = await work.outputHere(['export']);
  await work.addPets(1);
  await work.outputHere(['restore', '--force', work.path('backup.db')]);
  expect(await work.outputHere(['export'])).toBe(before);
});

test('why a command waits for a server is reported once until the server responds', async () => {
  const end = new AbortController();
  const statuses = [0, 503, 200, 200, 503, 200, 206, 200];
  const server = createServer((request, response) => {
    const status = statuses.shift();
    if (status === 0) request.destroy();
    else if (status === 206)
      response.writeHead(200, { 'Content-Length': 9 }).write('[', () => response.destroy());
    else response.writeHead(status ?? 200).end('[]');
    if (status === undefined) end.abort();
  });
  const environment = { DATABASE_URL: `${await listen(server)}/v1`, API_KEY: 'key' };
  const reasons: string[] = [];
  const commands = createCommands(environment, '1.0.0', (reason) => void reasons.push(reason));
  await commandLine('', commands).run(['export', '--follow'], { signal: end.signal });
  expect(reasons).toEqual([
    'the server cannot be reached (UND_ERR_SOCKET): trying again',
    'the server responds with status 503: trying again',
    'the response of the server is not complete: trying again',
  ]);
});

describe('openapi', () => {
  const environment = { PUBLIC_URL: 'https://pets.example.org', DATABASE_URL: 'memory:' };

  test('prints the document that a server would serve, with changes', async () => {
    const own = { ...environment, ...CHANGING_SETTINGS };
    const { status, out, err } = await new Workspace().runHere(['openapi'], '', own);
    expect({ status, err }).toEqual({ status: 0, err: '' });
    const printed = JSON.parse(out);
    expect(printed.servers).toEqual([expect.objectContaining({ url: 'https://pets.example.org/v1' })]);
    const service = await startInProcess({ ...own, PORT: '0', LOG_LEVEL: 'silent' });
    expect(JSON.parse((await clientOf(service).get('/openapi.json')).body)).toEqual(printed);
    expect(printed.paths).toHaveProperty('/changes');
  });

  test('has the address of a server without PUBLIC_URL', async () => {
    for (const [HOST, url] of [
      ['127.0.0.1', 'http://127.0.0.1:8080/v1'],
      ['::1', 'http://[::1]:8080/v1'],
    ] as const) {
      const settings = { HOST, PORT: '8080', DATABASE_URL: 'https://pets.example.org/v1' };
      const { out } = await new Workspace().runHere(['openapi'], '', settings);
      expect(JSON.parse(out).servers).toEqual([expect.objectContaining({ url })]);
    }
  });
});
