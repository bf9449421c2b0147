/** Runs every example against a real server. Its interpreter must be installed. */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { withRequired } from '../support/pets.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { listen } from '../support/sockets.ts';
import { REPLACEMENTS, startGateway } from './gateway.js';
import { startServer } from './server.js';
import { checkRetries, startUnreliable } from './unreliable.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TOOLS = `${ROOT}test/clients/node_modules/.bin`;
const execute = promisify(execFile);

/** The programs of the guides tell one story: they create three pets, list the sold ones, and show an error. */
const STORY =
  /^created pet (\d+)\n(?:created pet .*\n){2}(?:pet .*\n)*pet \1: Rex in category 9007199254740993\n(?:pet .*\n)*pet \d+: Минька in category 9007199254740993\nrefused: (?:400 )?invalid_request: name /;

/** The file of each example, its command, and the output that it must print. */
const EXAMPLES = [
  [
    'examples/curl.sh',
    ['sh'],
    /"categoryId":9007199254740993.*\][^[]*\[.*Минька.*\]\n# The resp.*\n.*"code":"invalid_request"/,
  ],
  ['examples/client.py', ['python3'], STORY],
  ['examples/client.go', ['go', 'run'], STORY],
  ['examples/client.js', [process.execPath], STORY],
  ['examples/animal-store-client.js', [process.execPath], STORY],
  ['examples/typed-client.ts', [process.execPath], /added Rex, whose id is \d+\n\d+ Rex available/],
  ['examples/embed.ts', [process.execPath], /Минька in category 9007199254740993\nrefused: invalid_request/],
];

/** The programs in `examples/follow`. Each prints the names of the pets. */
const FOLLOWING = [
  ['curl.sh', ['sh']],
  ['animal-store-client.js', [process.execPath]],
  ['client.js', [process.execPath]],
  ['client.py', ['python3']],
  ['client.go', ['go', 'run']],
];

/** The clients that repeat a request after a lost connection, a 429 and a 503. */
const RETRYING = /^examples\/(?:curl|client)\./;

let server;
beforeAll(async () => {
  server = await startServer();
});

test('examples/animal-store.d.ts is generated, and the examples compile with it', async () => {
  const types = `${ROOT}examples/animal-store.d.ts`;
  await execute(`${TOOLS}/openapi-typescript`, [`${server.origin}/openapi.json`, '--output', types]);
  await execute(`${TOOLS}/tsc`, ['-p', `${ROOT}test/clients/tsconfig.json`]);
});

test.each(EXAMPLES)('%s', async (file, command, expected) => {
  expect(await run(command, file, server.origin, server.key)).toMatch(expected);
});

/** Through an unreliable proxy, each create must store one pet. */
test.each(EXAMPLES.filter(([file]) => RETRYING.test(file)))('%s retries', async (file, command, expected) => {
  const own = await startServer();
  const { origin, requests } = await startUnreliable(own.origin);
  expect(await run(command, file, origin, own.key)).toMatch(expected);
  checkRetries(requests);
  const headers = { Authorization: `Bearer ${own.key}` };
  expect(await (await fetch(`${own.origin}/v1/pets`, { headers })).json(), BROKEN_PROMISE).toHaveLength(3);
});

test.each(FOLLOWING)(
  'examples/follow/%s prints each pet once, through lost connections, 429 and 503',
  async (file, command) => {
    const own = await startServer();
    const { origin } = await startUnreliable(own.origin);
    const follow = (...args) => startFollowing(command, file, { origin, key: own.key }, args);
    await add(own, 'Rex 1');
    const fromStart = follow();
    // Go compiles its library when it has not done so before.
    await expect.poll(fromStart, { timeout: 200_000 }).toEqual(['Rex 1']);
    await add(own, 'Tom 2');
    await add(own, 'Rex 3');
    await expect.poll(fromStart).toEqual(['Rex 1', 'Tom 2', 'Rex 3']);
    const fromSecond = follow('2');
    await expect.poll(fromSecond).toEqual(['Rex 3']);
    await add(own, 'Tom 4');
    await expect.poll(fromSecond).toEqual(['Rex 3', 'Tom 4']);
    await expect.poll(fromStart).toEqual(['Rex 1', 'Tom 2', 'Rex 3', 'Tom 4']);
  },
);

/** The message of a client about a response that the API did not send. */
const NOT_OF_THE_API =
  /which the API did not send|does not respond as the API does|a proxy or another server responds|is not that of an API/;

describe.each(REPLACEMENTS)('behind a gateway that sends $name', (replacement) => {
  let gateway;
  beforeAll(async () => {
    gateway = await startGateway(server.origin, replacement);
  });

  test.each(EXAMPLES.filter(([file]) => file !== 'examples/embed.ts'))(
    '%s says so',
    async (file, command) => {
      const failed = await run(command, file, gateway, server.key).then(
        (output) => expect.unreachable(`the example succeeded: ${output}`),
        (error) => error.message,
      );
      expect(failed).toMatch(NOT_OF_THE_API);
      // The client of the package has the error of the parser as the cause of its own.
      if (file === 'examples/animal-store-client.js') return;
      expect(failed).not.toMatch(/SyntaxError|JSONDecodeError|Unexpected|invalid character|panic/);
    },
  );
});

describe('behind a gateway that redirects to another server', () => {
  const keys = [];
  let gateway;
  beforeAll(async () => {
    const target = createServer((request, response) => {
      keys.push(request.headers.authorization);
      response.setHeader('Content-Type', 'application/json').end('[]');
    });
    const other = (await listen(target)).replace('127.0.0.1', 'localhost');
    const redirect = createServer((request, response) => {
      response.writeHead(302, { Location: other + request.url }).end();
    });
    gateway = await listen(redirect);
  });

  test.each(EXAMPLES.filter(([file]) => file !== 'examples/embed.ts'))(
    '%s does not send the key to the other server',
    async (file, command) => {
      keys.length = 0;
      await expect(run(command, file, gateway, server.key)).rejects.toThrow();
      expect(keys.filter((key) => key !== undefined)).toEqual([]);
    },
  );
});

async function add({ origin, key }, name) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify(withRequired({ name, categoryId: 7 }));
  expect((await fetch(`${origin}/v1/pets`, { method: 'POST', headers, body })).status).toBe(201);
}

/** Starts a program that follows the pets, until the end of the test. Returns a function for the names that it has printed. */
function startFollowing([program, ...options], file, { origin, key }, args = []) {
  const child = spawn(program, [...options, `examples/follow/${file}`, ...args], {
    cwd: ROOT,
    env: environment(origin, key),
    stdio: ['ignore', 'pipe', 'inherit'],
    // `go run` starts the program as a process of its own.
    detached: true,
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    process.kill(-child.pid, 'SIGKILL');
    await exited;
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  return () => printed.match(/(?:Rex|Tom) \d+/g) ?? [];
}

async function run([program, ...args], file, origin, key) {
  const env = environment(origin, key);
  const { stdout } = await execute(program, [...args, file], { cwd: ROOT, env }).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout ?? ''}`);
  });
  return stdout;
}

function environment(origin, key) {
  return {
    ...process.env,
    ANIMAL_STORE_URL: `${origin}/v1`,
    ANIMAL_STORE_KEY: key,
    CGO_ENABLED: '0', // Go needs no C compiler.
  };
}
