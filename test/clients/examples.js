/** Runs every example against a real server. Exits with 1 when one fails or its interpreter is missing. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startServer } from './server.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TOOLS = `${ROOT}test/clients/node_modules/.bin`;
const execute = promisify(execFile);

/** The command of each example, and the output that it must print. */
const EXAMPLES = [
  ['examples/curl.sh', 'sh', /"categoryId":9007199254740993[\s\S]*"code":"invalid_request"/],
  ['examples/client.py', 'python3', /'categoryId': 9007199254740994/],
  ['examples/typed-client.ts', process.execPath, /added Rex, whose id is \d+\n\d+ Rex available/],
  ['examples/embed.ts', process.execPath, /Минька in category 9007199254740993\nrefused: invalid_request/],
];

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
  for (const [file, interpreter, expected] of EXAMPLES) {
    await attempt(file, async () => {
      const { stdout } = await run(interpreter, file);
      if (!expected.test(stdout)) throw new Error(`it printed, without ${expected}:\n${stdout}`);
    });
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

async function run(interpreter, file) {
  const env = { ...process.env, ANIMAL_STORE_URL: `${server.origin}/v1`, ANIMAL_STORE_KEY: server.key };
  try {
    return await execute(interpreter, [file], { cwd: ROOT, env });
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error(`${interpreter} IS MISSING, so ${file} was not run`);
    throw error;
  }
}
