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
import { freePort } from '../support/free-port.ts';
import { wholeJson } from '../support/pets.ts';
import { COMMANDS, HERE, ROOT, start } from './programs.ts';

type Ask = (target: string, init?: RequestInit) => Promise<Response>;

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

/** Checks requests of each kind, many of them at the same time. The store must be empty. */
async function checkApi(ask: Ask, key: string): Promise<void> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const body = wholeJson('{"name":"Rex","categoryId":9223372036854775807}');
  const pet = (id: number) =>
    wholeJson(`{"id":${id},"name":"Rex","categoryId":9223372036854775807,"status":"available"}`);
  const created = await ask('/v1/pets', { method: 'POST', headers, body });
  expect([created.status, await created.text()]).toEqual([201, pet(1)]);
  expect(created.headers.get('Location')).toBe('/v1/pets/1');
  const all = await Promise.all(
    Array.from({ length: 50 }, () => ask('/v1/pets', { method: 'POST', headers, body })),
  );
  expect([...new Set(all.map(({ status }) => status))]).toEqual([201]);
  const once = { ...headers, 'Idempotency-Key': 'once' };
  const first = await ask('/v1/pets', { method: 'POST', headers: once, body });
  const again = await ask('/v1/pets', { method: 'POST', headers: once, body });
  expect([again.headers.get('Idempotency-Replayed'), await again.text()]).toEqual([
    'true',
    await first.text(),
  ]);
  const list = await ask('/v1/pets?limit=2', { headers });
  expect([list.status, await list.text()]).toEqual([200, `[${pet(1)},${pet(2)}]`]);
  expect(list.headers.get('Link')).toBe('</v1/pets?limit=2&after=2>; rel="next"');
  const etag = list.headers.get('ETag') ?? '';
  const cached = await ask('/v1/pets?limit=2', { headers: { ...headers, 'If-None-Match': etag } });
  expect(cached.status).toBe(304);
  const head = await ask('/v1/pets/1', { method: 'HEAD', headers });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect((await ask('/v1/pets', { method: 'OPTIONS', headers })).status).toBe(204);
  for (const [status, target, init] of [
    [401, '/v1/pets', {}],
    [404, '/v1/pets/1000', { headers }],
    [405, '/v1/pets', { method: 'DELETE', headers }],
    [400, '/v1/pets', { method: 'POST', headers, body: '{' }],
    [413, '/v1/pets', { method: 'POST', headers, body: ' '.repeat(65_537) }],
    [415, '/v1/pets', { method: 'POST', headers: { ...headers, 'Content-Type': 'text/plain' }, body }],
  ] as const) {
    const response = await ask(target, init);
    expect([response.status, ((await response.json()) as { status: number }).status]).toEqual([
      status,
      status,
    ]);
  }
}
