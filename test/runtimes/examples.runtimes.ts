/** Runs each program of examples/runtimes on its runtime, installed as a user would, and checks its responses. */

import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { builtinModules, isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { esmExternalRequirePlugin } from 'rolldown/plugins';
import { beforeEach, expect, test } from 'vitest';
import { createAnimalStore } from '../../src/library/index.ts';
import { checkApi } from '../support/api-check.ts';
import { freePort } from '../support/free-port.ts';
import { COMMANDS, HERE, ROOT, start } from './programs.ts';

const WORKER_KEY = 'a-key-of-the-worker-that-nobody-guesses';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'animal-store-runtimes-'));
  cpSync(join(ROOT, 'examples/runtimes'), folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules/animal-store'));
  symlinkSync(join(HERE, 'node_modules/hono'), join(folder, 'node_modules/hono'));
  return () => rmSync(folder, { recursive: true, force: true });
});

/** Creates the store of the examples, with an API key. */
async function createKey(): Promise<string> {
  const store = await createAnimalStore({ database: `sqlite:${join(folder, 'pets.db')}` });
  const { key } = await store.apiKeys.create('me');
  await store.close();
  return key;
}

test.each([
  ['bun.js', COMMANDS.bun],
  ['deno.js', COMMANDS.deno],
  ['hono.js', COMMANDS.bun],
])('%s', async (program, command) => {
  const key = await createKey();
  const output = start([...command, program], { cwd: folder });
  await expect.poll(output).toMatch(/^Listening on \S+\/$/m);
  const url = /^Listening on (\S+)\/$/m.exec(output())?.[1];
  await checkApi((target, init) => fetch(`${url}${target}`, init), key);
  if (program === 'hono.js') expect(await (await fetch(`${url}/`)).text()).toBe('the rest of the site');
});

test('next-route.js', async () => {
  const key = await createKey();
  process.chdir(folder);
  const { href } = pathToFileURL(join(folder, 'next-route.js'));
  const route = (await import(href)) as Record<
    string,
    (request: Request, context: object) => Promise<Response>
  >;
  process.chdir(ROOT);
  const context = { params: Promise.resolve({ path: ['pets'] }) };
  await checkApi(async (target, init) => {
    const request = new Request(`http://localhost${target}`, init);
    return (route[request.method] as NonNullable<(typeof route)[string]>)(request, context);
  }, key);
});

test('worker.js', async () => {
  const build = await rolldown({
    input: join(folder, 'worker.js'),
    external: [/^cloudflare:/],
    platform: 'browser',
    resolve: { aliasFields: [], conditionNames: ['workerd', 'import', 'default'] },
    // As wrangler does with the flag nodejs_compat, also where CommonJS requires a module of Node.js.
    plugins: [
      {
        name: 'modules of Node.js',
        resolveId: (id) =>
          isBuiltin(id) ? { id: `node:${id.replace('node:', '')}`, external: true } : undefined,
      },
      esmExternalRequirePlugin({ external: [/^node:/, ...builtinModules] }),
    ],
  });
  await build.write({ file: join(folder, 'worker.bundle.js'), format: 'es', codeSplitting: false });
  await build.close();
  const address = `127.0.0.1:${await freePort()}`;
  const command = [...COMMANDS.workerd, 'worker.capnp', '--socket-addr', `http=${address}`];
  const output = start(command, { cwd: folder, env: { API_KEY: WORKER_KEY } });
  const isLive = () => fetch(`http://${address}/livez`).then(({ ok }) => ok, output);
  await expect.poll(isLive).toBe(true);
  await checkApi((target, init) => fetch(`http://${address}${target}`, init), WORKER_KEY);
});
