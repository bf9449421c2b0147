/** Runs every example against a real server. Its interpreter must be installed. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { startServer } from './server.js';
import { checkRetries, startUnreliable } from './unreliable.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TOOLS = `${ROOT}test/clients/node_modules/.bin`;
const execute = promisify(execFile);

/** The file of each example, its command, and the output that it must print. */
const EXAMPLES = [
  [
    'examples/curl.sh',
    ['sh'],
    /"categoryId":9007199254740993.*\][^[]*\[.*Минька.*\]\n# The resp.*\n.*"code":"invalid_request"/,
  ],
  [
    'examples/client.py',
    ['python3'],
    /pending: .*'categoryId': 9007199254740994.*\n(?:pending: .*\n)*refused: 400 invalid_request: name /,
  ],
  [
    'examples/client.go',
    ['go', 'run'],
    /page 2:\n {2}pet \d+: Rex in category 9007199254740995, sold\nrefused: 400 invalid_request: name /,
  ],
  [
    'examples/client.js',
    [process.execPath],
    /Минька in category 9007199254740993\nrefused: 400 invalid_request: name /,
  ],
  [
    'examples/animal-store-client.js',
    [process.execPath],
    /Минька in category 9007199254740993\nrefused: invalid_request: name /,
  ],
  ['examples/typed-client.ts', [process.execPath], /added Rex, whose id is \d+\n\d+ Rex available/],
  ['examples/embed.ts', [process.execPath], /Минька in category 9007199254740993\nrefused: invalid_request/],
];

/** The clients that repeat a request after a lost connection, a 429 and a 503. */
const RETRYING = /^examples\/(?:curl|client)\./;

let server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('examples/animal-store.d.ts is generated, and the examples compile with it', async () => {
  const types = `${ROOT}examples/animal-store.d.ts`;
  await execute(`${TOOLS}/openapi-typescript`, [`${server.origin}/openapi.json`, '--output', types]);
  await execute(`${TOOLS}/tsc`, ['-p', `${ROOT}test/clients/tsconfig.json`]);
});

test.each(EXAMPLES)('%s', (file, command, expected) => expectOutput(command, file, expected, server));

test.each(EXAMPLES.filter(([file]) => RETRYING.test(file)))('%s retries', (file, command, expected) =>
  throughFaults(command, file, expected),
);

async function expectOutput(command, file, expected, { origin, key }) {
  expect(await run(command, file, origin, key)).toMatch(expected);
}

/** Runs a client against a separate server behind an unreliable proxy. Each of its creates must store one pet. */
async function throughFaults(command, file, expected) {
  const own = await startServer();
  const proxy = await startUnreliable(own.origin);
  try {
    await expectOutput(command, file, expected, { origin: proxy.origin, key: own.key });
    checkRetries(proxy.requests);
    const headers = { Authorization: `Bearer ${own.key}` };
    const pets = await (await fetch(`${own.origin}/v1/pets`, { headers })).json();
    expect(pets, BROKEN_PROMISE).toHaveLength(3);
  } finally {
    await proxy.stop();
    await own.stop();
  }
}

async function run([program, ...args], file, origin, key) {
  const env = {
    ...process.env,
    ANIMAL_STORE_URL: `${origin}/v1`,
    ANIMAL_STORE_KEY: key,
    CGO_ENABLED: '0', // Go needs no C compiler.
  };
  const { stdout } = await execute(program, [...args, file], { cwd: ROOT, env }).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout ?? ''}`);
  });
  return stdout;
}
