/**
 * Shows that the store keeps its promises, with a real server that is killed several times. Usage: `npm run build`, then `npm run
 * demo`. The store is in a temporary folder, which is removed at the end.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EXAMPLE_JSON } from '../src/adapters/cli/pet-attributes.ts';
import { type NewPet, newPet } from '../src/domain/pet.ts';
import { newPetJson, parsePetMembers } from '../src/domain/pet-json.ts';
import { type BasicStore, createAnimalStore } from '../src/library/client.ts';

const BIN = join(import.meta.dirname, '../bin/animal-store.js');
const PETS = 30;
const [WRITERS, CHANGES] = [4, 10];

/**
 * The timeout of a call, in milliseconds. A call may have to wait until the server has started again, which takes long on a busy
 * machine.
 */
const TIMEOUT = 100_000;

const folder = mkdtempSync(join(tmpdir(), 'animal-store-demo-'));
let server: ChildProcess | undefined;
let [url, key] = ['', ''];

/** Starts the server. Each later start uses the port and the store of the first start. */
async function start(): Promise<void> {
  const child = spawn(process.execPath, [BIN, 'serve'], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: `sqlite:${join(folder, 'pets.db')}`,
      EXPERIMENTAL: 'on',
      LOG_LEVEL: 'silent',
      PORT: url === '' ? '0' : new URL(url).port,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  server = child;
  let out = '';
  for await (const text of child.stdout.setEncoding('utf8')) {
    out += text;
    if (/^(?:To create|Create a pet)/m.test(out)) break;
  }
  url = /^Listening on (\S+)$/m.exec(out)?.[1] ?? url;
  key = /^ {2}(pets_\w+)$/m.exec(out)?.[1] ?? key;
}

async function kill(): Promise<void> {
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
  server.kill('SIGKILL');
  await once(server, 'exit');
}

async function post(body: string, idempotencyKey: string = randomUUID()): Promise<Response> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  return await fetch(`${url}/pets`, {
    method: 'POST',
    headers: { ...headers, 'Idempotency-Key': idempotencyKey },
    body,
  });
}

/** Returns a pet with these values, and with example values for its other required attributes. */
function pet(name: string, categoryId: bigint): NewPet {
  return newPet({ ...parsePetMembers(EXAMPLE_JSON), name, categoryId });
}

function title(text: string): void {
  console.log(`\n${text}`);
}

function show(text: string): void {
  console.log(`  ${text}`);
}

function verify(isTrue: boolean, promise: string): void {
  if (!isTrue) throw new Error(`not true: ${promise}`);
  show(`=> ${promise}`);
}

async function retryAfterCrash(): Promise<void> {
  title('1. A create that is sent twice, with kill -9 in between');
  const idempotencyKey = randomUUID();
  const bodies: string[] = [];
  for (const attempt of ['first', 'second']) {
    const response = await post(newPetJson(pet('Rex', 7n)), idempotencyKey);
    bodies.push(await response.text());
    const replayed = response.headers.get('Idempotency-Replayed') ?? 'false';
    show(`${attempt} POST: ${response.status} ${bodies.at(-1)}, replayed: ${replayed}`);
    if (attempt === 'first') {
      await kill();
      show('kill -9; the server starts again');
      await start();
    }
  }
  const list = await fetch(`${url}/pets`, { headers: { Authorization: `Bearer ${key}` } });
  verify((await list.text()) === `[${bodies[0]}]` && bodies[0] === bodies[1], 'there is one pet');
}

async function exactIntegers(): Promise<void> {
  title('2. An integer beyond 2^53');
  const text = await (await post(newPetJson(pet('Big', 9_007_199_254_740_993n)))).text();
  show(`the response:             ${text}`);
  show(`JSON.parse makes of it:   ${JSON.stringify(JSON.parse(text))}`);
  const store = await createAnimalStore({ database: url, apiKey: key, timeout: TIMEOUT });
  const big = (await store.listPage({ after: 1n, limit: 1 })).pets[0];
  await store.close();
  show(`the client makes of it:   categoryId ${big?.categoryId}n`);
  verify(big?.categoryId === 9_007_199_254_740_993n && text.includes('9007199254740993'), 'no digit is lost');
}

async function followThroughRestarts(): Promise<void> {
  title(`3. A follower, while ${PETS} pets are created and the server is killed twice`);
  const store = await createAnimalStore({ database: url, apiKey: key, timeout: TIMEOUT });
  const stop = new AbortController();
  const seen: bigint[] = [];
  const following = (async () => {
    for await (const { id } of store.followPets({ after: 2n, signal: stop.signal })) seen.push(id);
  })().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  const created: bigint[] = [];
  for (let count = 1; count <= PETS; count++) {
    const creating = store.createPet(pet(`pet ${count}`, 1n));
    if (count % (PETS / 3) === 0 && count < PETS) {
      await kill();
      show(`kill -9 during create ${count}; the server starts again`);
      await start();
    }
    created.push((await creating).id);
  }
  for (let turn = 0; turn < TIMEOUT / 50 && seen.length < created.length; turn++) await sleep(50);
  stop.abort();
  await following;
  await store.close();
  show(`created: ${created.length}; seen by the follower: ${seen.length}`);
  verify(seen.join() === created.join(), 'each pet was created once, and seen once, in the order of the ids');
}

async function changeTogether(): Promise<void> {
  title(`4. ${WRITERS} clients that change one pet ${CHANGES} times each, while the server is killed`);
  const open = () => createAnimalStore({ database: url, apiKey: key, timeout: TIMEOUT });
  const stores = await Promise.all(Array.from({ length: WRITERS }, open));
  const { id } = await (stores[0] as BasicStore).createPet(pet('Counted', 0n));
  let changed = 0;
  let restarted: Promise<void> | undefined;
  async function change(store: BasicStore): Promise<void> {
    for (let count = 0; count < CHANGES; count++) {
      await store.changePet(id, ({ categoryId }) => ({ categoryId: categoryId + 1n }));
      changed++;
      if (changed === (WRITERS * CHANGES) / 2) {
        show(`kill -9 after change ${changed}; the server starts again`);
        restarted = kill().then(start);
      }
    }
  }
  await Promise.all(stores.map(change));
  await restarted;
  const result = await (stores[0] as BasicStore).getPet(id);
  await Promise.all(stores.map((store) => store.close()));
  show(`changes: ${changed}; each adds 1 to the categoryId, which is now ${result.categoryId}`);
  verify(result.categoryId === BigInt(changed), 'no change is lost, and each happened once');
}

// Ctrl-C ends the server too.
process.once('exit', () => server?.kill('SIGKILL'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

try {
  console.log('A server with a SQLite store in a temporary folder.');
  await start();
  await retryAfterCrash();
  await exactIntegers();
  await followThroughRestarts();
  await changeTogether();
  console.log('\nAll four promises hold.');
} finally {
  await kill();
  rmSync(folder, { recursive: true, force: true });
}
