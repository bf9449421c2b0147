/** Runs each program of examples/runtimes on its runtime, installed as a user would, and checks its responses. */

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { createAnimalStore } from '../../src/library/index.ts';
import { freePort } from '../support/free-port.ts';
import { COMMANDS, end, HERE, ROOT, start } from './programs.ts';

type Ask = (target: string, init?: RequestInit) => Promise<Response>;

const WORKER_KEY = 'a-key-of-the-worker-that-nobody-guesses';
const START_TIMEOUT = 100_000;

/** The checks by name. Each of them rejects when an example does not work. */
export function exampleChecks(): Readonly<Record<string, () => Promise<void>>> {
  return {
    'bun.js': () => inFolder((folder) => served(folder, [...COMMANDS.bun, 'bun.js'])),
    'deno.js': () => inFolder((folder) => served(folder, [...COMMANDS.deno, 'deno.js'])),
    'hono.js': () =>
      inFolder((folder) =>
        served(folder, [...COMMANDS.bun, 'hono.js'], async (ask) => {
          assert.equal(await (await ask('/')).text(), 'the rest of the site');
        }),
      ),
    'next-route.js': () => inFolder(checkRoute),
    'worker.js': () => inFolder(checkWorker),
  };
}

async function inFolder(check: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-runtimes-'));
  try {
    cpSync(join(ROOT, 'examples/runtimes'), folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(ROOT, join(folder, 'node_modules/animal-store'));
    symlinkSync(join(HERE, 'node_modules/hono'), join(folder, 'node_modules/hono'));
    await check(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Creates the store of the examples, with an API key. */
async function createKey(folder: string): Promise<string> {
  const store = await createAnimalStore({ database: `sqlite:${join(folder, 'pets.db')}` });
  const { key } = await store.apiKeys.create('me');
  await store.close();
  return key;
}

/** Starts a program that prints where it listens, and checks its responses. */
async function served(
  folder: string,
  command: readonly string[],
  more: (ask: Ask) => Promise<void> = async () => {},
): Promise<void> {
  const key = await createKey(folder);
  const program = start(command, { cwd: folder });
  try {
    const url = () => /^Listening on (\S+)\/$/m.exec(program.output())?.[1];
    await until(async () => url() !== undefined, program.output);
    const ask: Ask = (target, init) => fetch(`${url()}${target}`, init);
    await checkApi(ask, key);
    await more(ask);
  } finally {
    await end(program);
  }
}

async function checkRoute(folder: string): Promise<void> {
  const key = await createKey(folder);
  process.chdir(folder);
  const { href } = pathToFileURL(join(folder, 'next-route.js'));
  const route = (await import(href)) as Record<
    string,
    (request: Request, context: object) => Promise<Response>
  >;
  const context = { params: Promise.resolve({ path: ['pets'] }) };
  await checkApi(async (target, init) => {
    const request = new Request(`http://localhost${target}`, init);
    const respond = route[request.method];
    assert.ok(respond !== undefined);
    return respond(request, context);
  }, key);
}

async function checkWorker(folder: string): Promise<void> {
  const build = await rolldown({
    input: join(folder, 'worker.js'),
    external: [/^node:/, /^cloudflare:/],
    platform: 'neutral',
    resolve: { conditionNames: ['workerd', 'import', 'default'] },
  });
  await build.write({ file: join(folder, 'worker.bundle.js'), format: 'es', codeSplitting: false });
  await build.close();
  const address = `127.0.0.1:${await freePort()}`;
  const command = [...COMMANDS.workerd, 'worker.capnp', '--socket-addr', `http=${address}`];
  const program = start(command, { cwd: folder, env: { API_KEY: WORKER_KEY } });
  try {
    await until(async () => (await fetch(`http://${address}/livez`)).ok, program.output);
    await checkApi((target, init) => fetch(`http://${address}${target}`, init), WORKER_KEY);
  } finally {
    await end(program);
  }
}

/** Checks requests of each kind, many of them at the same time. The store must be empty. */
async function checkApi(ask: Ask, key: string): Promise<void> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const body = '{"name":"Rex","categoryId":9223372036854775807}';
  const pet = (id: number) =>
    `{"id":${id},"name":"Rex","categoryId":9223372036854775807,"status":"available"}`;
  const created = await ask('/v1/pets', { method: 'POST', headers, body });
  assert.deepEqual([created.status, await created.text()], [201, pet(1)]);
  assert.equal(created.headers.get('Location'), '/v1/pets/1');
  const all = await Promise.all(
    Array.from({ length: 50 }, () => ask('/v1/pets', { method: 'POST', headers, body })),
  );
  assert.deepEqual([...new Set(all.map(({ status }) => status))], [201]);
  const once = { ...headers, 'Idempotency-Key': 'once' };
  const first = await ask('/v1/pets', { method: 'POST', headers: once, body });
  const again = await ask('/v1/pets', { method: 'POST', headers: once, body });
  assert.deepEqual(
    [again.headers.get('Idempotency-Replayed'), await again.text()],
    ['true', await first.text()],
  );
  const list = await ask('/v1/pets?limit=2', { headers });
  assert.deepEqual([list.status, await list.text()], [200, `[${pet(1)},${pet(2)}]`]);
  assert.equal(list.headers.get('Link'), '</v1/pets?limit=2&after=2>; rel="next"');
  const etag = list.headers.get('ETag') ?? '';
  assert.equal(
    (await ask('/v1/pets?limit=2', { headers: { ...headers, 'If-None-Match': etag } })).status,
    304,
  );
  const head = await ask('/v1/pets/1', { method: 'HEAD', headers });
  assert.deepEqual([head.status, await head.text()], [200, '']);
  assert.equal((await ask('/v1/pets', { method: 'OPTIONS', headers })).status, 204);
  for (const [status, target, init] of [
    [401, '/v1/pets', {}],
    [404, '/v1/pets/1000', { headers }],
    [405, '/v1/pets', { method: 'DELETE', headers }],
    [400, '/v1/pets', { method: 'POST', headers, body: '{' }],
    [413, '/v1/pets', { method: 'POST', headers, body: ' '.repeat(65_537) }],
    [415, '/v1/pets', { method: 'POST', headers: { ...headers, 'Content-Type': 'text/plain' }, body }],
  ] as const) {
    const response = await ask(target, init);
    assert.deepEqual(
      [response.status, ((await response.json()) as { status: number }).status],
      [status, status],
    );
  }
}

async function until(isTrue: () => Promise<boolean>, output: () => string): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT;
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`it did not start: ${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
