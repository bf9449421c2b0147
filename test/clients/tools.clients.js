/**
 * Tests the real server with tools written by other people: Spectral on the OpenAPI document, clients generated from it, and
 * Prism as a proxy between a typed client and the server.
 */

import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { startServer } from './server.js';

const FOLDER = fileURLToPath(new URL('./', import.meta.url));
const execute = promisify(execFile);
const environment = { ...process.env, PATH: `${FOLDER}node_modules/.bin:${process.env.PATH}`, NO_COLOR: '1' };

/** A program that gets a response without a body through the `fetch` of an example. */
const REMOVAL = `import './hey-api.ts';
import { removePet } from './pets/sdk.gen.ts';
const removed = await removePet({ path: { petId: 1n }, headers: { 'If-Match': '*' } });
console.log(removed.response.status);
`;

describe.each([
  ['default', {}],
  ['experimental', { EXPERIMENTAL: 'on' }],
])('with the %s operations', (name, settings) => {
  const document = `${FOLDER}generated/openapi-${name}.json`;

  beforeAll(async () => {
    mkdirSync(`${FOLDER}generated`, { recursive: true });
    const { origin } = await startServer(settings);
    writeFileSync(document, await (await fetch(`${origin}/openapi.json`)).text());
  });

  test('Spectral finds nothing', () =>
    run('spectral', ['lint', '--ruleset', '.spectral.yaml', '--fail-severity=hint', document]));

  /** The examples of clients that are generated, as `docs/api.md` says. They compile, and round no integer. */
  test('generated clients are exact', async () => {
    const folder = `${FOLDER}generated/exact-${name}/`;
    rmSync(folder, { recursive: true, force: true });
    cpSync(fileURLToPath(new URL('../../examples/generated/', import.meta.url)), folder, { recursive: true });
    mkdirSync(`${folder}node_modules`);
    symlinkSync(fileURLToPath(new URL('../../', import.meta.url)), `${folder}node_modules/animal-store`);
    const address = 'http://127.0.0.1:3000/openapi.json';
    const config = readFileSync(`${folder}openapi-ts.config.ts`, 'utf8');
    expect(config).toContain(address);
    writeFileSync(`${folder}openapi-ts.config.ts`, config.replace(address, document));
    await run('openapi-ts', [], folder);
    await run(process.execPath, ['openapi-fetch-types.ts', `file://${document}`, 'pets.d.ts'], folder);
    writeFileSync(
      `${folder}tsconfig.json`,
      JSON.stringify({
        extends: '../../tsconfig.json',
        // The generated code is not written for this option.
        compilerOptions: { exactOptionalPropertyTypes: false },
        include: ['*.ts'],
      }),
    );
    await run('tsc', ['-p', '.'], folder);
    const { origin, key } = await startServer(settings);
    const variables = { ANIMAL_STORE_URL: `${origin}/v1`, ANIMAL_STORE_KEY: key };
    for (const program of ['openapi-fetch.ts', 'hey-api.ts']) {
      const { stdout } = await run(process.execPath, [program], folder, variables);
      expect(stdout, program).toBe('9007199254740993n\n9007199254740993n\n');
    }
    if (name !== 'experimental') return;
    writeFileSync(`${folder}removal.ts`, REMOVAL);
    expect((await run(process.execPath, ['removal.ts'], folder, variables)).stdout).toMatch(/\n204\n$/);
  });

  /** Prism with `--errors` responds with 500 to a request or a response that the document does not allow. */
  test('an example through Prism breaks no rule of the document', async () => {
    const { origin, key } = await startServer(settings);
    const port = await freePort();
    const prism = spawn(
      'prism',
      ['proxy', document, `${origin}/v1`, '--errors', '--host', '127.0.0.1', '--port', String(port)],
      { cwd: FOLDER, env: environment, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    onTestFinished(() => void prism.kill());
    let log = '';
    prism.on('error', (error) => {
      log += error;
    });
    for (const stream of [prism.stdout, prism.stderr])
      stream.on('data', (chunk) => {
        log += chunk;
      });
    await expect.poll(() => log).toMatch(/listening on/);
    const address = `http://127.0.0.1:${port}`;
    const variables = { ANIMAL_STORE_URL: address, ANIMAL_STORE_KEY: key };
    const example = fileURLToPath(new URL('../../examples/typed-client.ts', import.meta.url));
    const { stdout } = await run(process.execPath, [example], FOLDER, variables).catch((error) => {
      throw new Error(log, { cause: error });
    });
    expect(stdout).toContain('added Rex');
    if (name === 'experimental') await changeThrough(address, key);
    expect(log).not.toMatch(/violation/i);
  });
});

/** Calls each experimental operation, with a success and with errors of its own. */
async function changeThrough(address, key) {
  const call = async (method, path, fields = {}, body = undefined) => {
    const headers = { Authorization: `Bearer ${key}`, ...fields };
    if (body !== undefined) headers['Content-Type'] = 'application/merge-patch+json';
    return `${method} ${(await fetch(address + path, { method, headers, body })).status}`;
  };
  const any = { 'If-Match': '*', 'Idempotency-Key': 'prism' };
  expect([
    await call('PATCH', '/pets/1', any, '{"status":"sold"}'),
    await call('PATCH', '/pets/1', any, '{"status":"sold"}'),
    await call('PATCH', '/pets/1', { 'If-Match': '"other"' }, '{"name":"Max"}'),
    await call('PATCH', '/pets/1', { 'If-Match': '*' }, '{"status":"pending"}'),
    await call('GET', '/changes?limit=1'),
    await call('DELETE', '/pets/1', { 'If-Match': '*' }),
    await call('GET', '/changes'),
    await call('GET', '/changes?after=0000000000000000-1'),
  ]).toEqual(
    [200, 200, 412, 409].map((s) => `PATCH ${s}`).concat('GET 200', 'DELETE 204', 'GET 200', 'GET 410'),
  );
}

function run(command, args, cwd = FOLDER, variables = {}) {
  return execute(command, args, { cwd, env: { ...environment, ...variables } }).catch((error) => {
    throw new Error(`${error.stdout}${error.stderr}${error.message}`);
  });
}
