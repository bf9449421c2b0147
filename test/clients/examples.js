/** Runs every example against a real server. Exits with 1 when one fails or its interpreter is missing. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
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

const server = await startServer();
let failures = 0;
try {
  const types = `${ROOT}examples/animal-store.d.ts`;
  await attempt('examples/animal-store.d.ts is generated', () =>
    execute(`${TOOLS}/openapi-typescript`, [`${server.origin}/openapi.json`, '--output', types]),
  );
  await attempt('examples type-check', () =>
    execute(`${TOOLS}/tsc`, ['-p', `${ROOT}test/clients/tsconfig.json`]),
  );
  for (const [file, command, expected] of EXAMPLES) {
    await attempt(file, () => expectOutput(command, file, expected, server));
    if (RETRYING.test(file)) await attempt(`${file} retries`, () => throughFaults(command, file, expected));
  }
} finally {
  await server.stop();
}
console.log(failures === 0 ? 'examples: all is well' : `examples: ${failures} FAILED`);
process.exitCode = failures === 0 ? 0 : 1;

async function attempt(name, what) {
  try {
    await what();
    console.log(`ok      ${name}`);
  } catch (error) {
    failures += 1;
    console.error(`FAILED  ${name}\n${error.stdout ?? ''}${error.stderr ?? ''}${error.message}`);
  }
}

async function expectOutput(command, file, expected, { origin, key }) {
  const { stdout } = await run(command, file, origin, key);
  if (!expected.test(stdout)) throw new Error(`it printed, without ${expected}:\n${stdout}`);
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
    if (pets.length !== 3) throw new Error(`expected 3 pets, got ${pets.length}`);
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
  try {
    return await execute(program, [...args, file], { cwd: ROOT, env });
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error(`${program} IS MISSING, so ${file} was not run`);
    throw error;
  }
}
