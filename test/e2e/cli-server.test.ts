/** The commands with the address of a server instead of a database. */

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { createCommands } from '../../src/composition/commands.ts';
import { petJson } from '../../src/domain/pet-json.ts';
import { samplePet } from '../../src/testing/fixtures/pets.ts';
import { commandLine, failed } from '../adapters/cli/cli.ts';
import { until } from '../support/clock.ts';
import { optionsOf, REX, SPOILED_REX } from '../support/pets.ts';
import { runBin } from '../support/process.ts';
import { sharedServer } from '../support/server.ts';
import { listen } from '../support/sockets.ts';
import { Workspace } from './workspace.ts';

const server = sharedServer('memory');

function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const url = `${server.origin}/v1`;
  return new Workspace().runHere(args, '', { DATABASE_URL: url, API_KEY: server.key, ...environment });
}

/** Starts a program that responds to each request with one page of pets. */
async function serverOf(page: string): Promise<string> {
  return `${await listen(createServer((_, response) => void response.end(page)))}/v1`;
}

test('export writes rows of a server that break a rule, and names their ids', async () => {
  const pets = [
    { id: 0n, ...REX },
    { id: 7n, ...SPOILED_REX },
    { id: 9n, ...REX },
  ].map(petJson);
  const { status, out, err } = await run(['export'], { DATABASE_URL: await serverOf(`[${pets.join()}]`) });
  expect([status, out]).toEqual([0, `${pets.join('\n')}\n`]);
  expect(err).toMatch(
    /^pet 0 cannot be imported: id .*\npet 7 cannot be imported: \w+ .*\nExported 3 pets\.\n$/,
  );
});

test('export reads the pets of a server, whose key can be in a file', async () => {
  const pet = await server.store.createPet(samplePet('Rex', 2n ** 53n + 1n));
  const work = new Workspace();
  writeFileSync(work.path('key'), `${server.key}\n`);
  const { status, out, err } = await run(['export'], { API_KEY: '', API_KEY_FILE: work.path('key') });
  expect([status, err]).toEqual([0, 'Exported 1 pet.\n']);
  expect(out).toBe(`${petJson(pet)}\n`);
});

test.each([
  ['a wrong key', { API_KEY: 'wrong' }, 'refuses the API key: the API key is not valid'],
  [
    'a missing key',
    { API_KEY: '' },
    'error: API_KEY: expected the API key for the server, in API_KEY or in the file API_KEY_FILE',
  ],
  ['an invalid key', { API_KEY: 'a b' }, 'API_KEY: expected visible ASCII characters without spaces'],
  [
    'a wrong address',
    { DATABASE_URL: 'http://127.0.0.1:1/v1' },
    // `fetch` blocks this port.
    'error: DATABASE_URL: the server cannot be reached: bad port',
  ],
])('doctor reports %s', async (_name, environment, message) => {
  const { status, out } = await run(['doctor'], environment);
  expect(status).toBe(1);
  expect(out).toContain(message);
});

test.each([
  [['pets', 'create', ...optionsOf(REX)], 'create', 'stored'],
  [['pets', 'change', '1', ...optionsOf(REX)], 'change', 'changed'],
  [['pets', 'remove', '1'], 'change', 'changed'],
])('the signal ends the wait for a server, and the error has the key: %j', async (args, write, done) => {
  const end = new AbortController();
  const environment = { DATABASE_URL: `${await listen(createServer(() => end.abort()))}/v1`, API_KEY: 'key' };
  const { run } = commandLine('', createCommands(environment, '1.0.0'));
  const before = failed(1, 'interrupted; nothing was changed');
  expect(await run(args, { signal: AbortSignal.abort() })).toEqual(before);
  const { status, err } = await run(args, { signal: end.signal });
  const advice = `repeat the ${write} with --idempotency-key [0-9a-f]{32}\n`;
  const message = `^animal-store: the ${write} was aborted; the pet may be ${done}: ${advice}$`;
  expect([status, err]).toEqual([1, expect.stringMatching(new RegExp(message))]);
  const get = await run(['pets', 'get', '1'], { signal: end.signal });
  expect(get).toEqual(failed(1, 'interrupted; the output is not complete'));
});

test('a command that waits for a server says why, once until the server responds', async () => {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    if (requests === 1) request.destroy();
    else response.writeHead(requests === 3 || requests === 4 ? 503 : 200).end('[]');
  });
  const env = { DATABASE_URL: `${await listen(server)}/v1`, API_KEY: 'key' };
  const { child, exit, out } = runBin(['export', '--follow'], { env });
  await until(() => requests >= 5);
  child.kill();
  await exit;
  expect(out.stderr).toMatch(
    /^animal-store: the server cannot be reached \(.+\): trying again\nanimal-store: the server responds with status 503: trying again\n$/,
  );
});

const TOOL = 'is not supported by this storage: use animal-store on the machine of the server';

test.each([
  [['serve'], 'DATABASE_URL: expected sqlite:PATH or memory:'],
  [['keys', 'create', '--name', 'x'], `keys ${TOOL}`],
  [['changes', '--new-epoch'], `new-epoch ${TOOL}`],
  [['import', '-'], `import ${TOOL}`],
  [['backup', 'x'], `backup ${TOOL}`],
  [['restore', 'x'], `restore ${TOOL}`],
])('%j is refused in one line', async (args, message) => {
  for (const API_KEY of [server.key, '']) {
    const { status, out, err } = await run(args, { API_KEY });
    expect([status, out]).toEqual([2, '']);
    expect(err).toMatch(/^animal-store: .*\n$/);
    expect(err).toContain(message);
  }
});
