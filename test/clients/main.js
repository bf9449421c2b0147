/**
 * Tests the real server with tools written by other people: Spectral on the OpenAPI document, a typed client generated
 * from it, and Prism as a proxy between that client and the server. Prints one line per check; exits with 1 on a failure.
 */

import { execFile, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../support/free-port.ts';
import { withClientServers } from './client-servers.js';
import { clientStory } from './client-story.js';
import { startServer } from './server.js';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));
const DOCUMENT = `${FOLDER}generated/openapi.json`;
const execute = promisify(execFile);
const environment = { ...process.env, PATH: `${FOLDER}node_modules/.bin:${process.env.PATH}`, NO_COLOR: '1' };

const server = await startServer();
const failed = [];
try {
  mkdirSync(`${FOLDER}generated`, { recursive: true });
  const document = await fetch(`${server.origin}/openapi.json`);
  writeFileSync(DOCUMENT, await document.text());

  await check('Spectral finds nothing', () =>
    run('spectral', ['lint', '--ruleset', '.spectral.yaml', '--fail-severity=hint', DOCUMENT]),
  );
  await check('openapi-typescript makes types', () =>
    run('openapi-typescript', [DOCUMENT, '--output', 'generated/schema.d.ts']),
  );
  await check('the typed client compiles', () => run('tsc', ['-p', 'tsconfig.story.json']));
  await check('the typed client runs the story', () => story(`${server.origin}/v1`, server.key));
  await check('the client of the API runs its story', clientOfTheApi);
  await check('the story through Prism breaks no rule of the document', throughPrism);
} finally {
  await server.stop();
}
if (failed.length > 0) {
  console.error(`clients: ${failed.length} failed: ${failed.join(', ')}`);
  process.exitCode = 1;
} else {
  console.log('clients: all is well');
}

async function check(name, what) {
  try {
    await what();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed.push(name);
    console.error(`FAILED  ${name}\n${error.stdout ?? ''}${error.stderr ?? ''}${error.message}`);
  }
}

function run(command, args) {
  return execute(command, args, { cwd: FOLDER, env: environment });
}

function story(baseUrl, key) {
  return run(process.execPath, ['story.ts', baseUrl, key]);
}

async function clientOfTheApi() {
  const { createAnimalStore } = await import('../../dist/library/client.js');
  await withClientServers((addresses) => clientStory(createAnimalStore, addresses));
}

/**
 * Uses a separate server, because the story needs an empty store. Prism with `--errors` responds with 500 to a request or
 * a response that the document does not allow.
 */
async function throughPrism() {
  const own = await startServer();
  const port = await freePort();
  const prism = spawn(
    'prism',
    ['proxy', DOCUMENT, `${own.origin}/v1`, '--errors', '--host', '127.0.0.1', '--port', String(port)],
    { cwd: FOLDER, env: environment, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let log = '';
  try {
    await new Promise((resolve, reject) => {
      const listen = (chunk) => {
        log += chunk;
        if (/listening on/.test(log)) resolve();
      };
      prism.stdout.on('data', listen);
      prism.stderr.on('data', listen);
      prism.once('error', reject);
      prism.once('exit', (code) => reject(new Error(`Prism ended with ${code}: ${log}`)));
    });
    await story(`http://127.0.0.1:${port}`, own.key);
    if (/violation/i.test(log)) throw new Error(`Prism found violations:\n${log}`);
  } catch (error) {
    error.stderr = `${error.stderr ?? ''}${log}`;
    throw error;
  } finally {
    prism.removeAllListeners('exit');
    prism.kill();
    await own.stop();
  }
}
