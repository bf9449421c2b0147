/** The server with several threads, as a process. */

import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { withTimeout } from '../adapters/postgres/database.ts';
import { Client } from '../support/client.ts';
import { READY, stateLines, untilReadinessIs } from '../support/faults.ts';
import { linesOf } from '../support/log-streams.ts';
import { startPostgres } from '../support/postgres/server.ts';
import {
  OPERATOR_KEY,
  runBin,
  type Service,
  startService,
  stopService,
  temporaryFolder,
} from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';

const THREAD_DEATH = fileURLToPath(new URL('../support/thread-death.ts', import.meta.url));
const OTHER_PLATFORM = fileURLToPath(new URL('../support/other-platform.ts', import.meta.url));
const WORKERS = 3;

// A test starts up to three servers of several threads, and some a PostgreSQL server, on a machine that may stand still.
vi.setConfig({ testTimeout: 300_000 });

/** Threads share a port on Node.js on Linux only. */
const canShare = process.platform === 'linux';

interface Threads extends Service {
  /** Makes a thread throw an error that no code catches. */
  end(index: number): void;
}

async function startThreads(env: Readonly<Record<string, string>> = {}): Promise<Threads> {
  const file = join(temporaryFolder(), 'thread');
  const service = await startService({
    nodeArgs: ['--import', THREAD_DEATH],
    env: { API_KEYS: OPERATOR_KEY, WORKERS: String(WORKERS), THREAD_DEATH: file, ...env },
  });
  return { ...service, end: (index) => writeFileSync(file, String(index)) };
}

/** Opens clients with a connection each. */
function clientsOf({ origin }: Service, count: number): Client[] {
  const clients = Array.from({ length: count }, () => new Client(origin, OPERATOR_KEY));
  onTestFinished(() => {
    for (const client of clients) client.close();
  });
  return clients;
}

function messagesOf(service: Service): unknown[] {
  return linesOf(service.out.stderr).map(({ msg }) => msg);
}

async function petNames(client: Client): Promise<string[]> {
  const bodies = await client.pages('/v1/pets?limit=100');
  return bodies.flatMap((body) => JSON.parse(body).map(({ name }: { name: string }) => name));
}

describe.skipIf(!canShare)('a server with several threads', () => {
  test('serves every connection, with one log, one set of metrics and one stop', async () => {
    const service = await startThreads();
    const clients = clientsOf(service, 20);
    for (const [index, client] of clients.entries()) {
      const { status, body } = await client.post({ name: `pet ${index}`, categoryId: 1 });
      expect(status).toBe(201);
      const reader = clients[(index * 7 + 3) % clients.length] as Client;
      expect((await reader.get(`/v1/pets/${JSON.parse(body).id}`)).body).toBe(body);
      expect(JSON.parse((await reader.get('/v1/pets?limit=100')).body)).toHaveLength(index + 1);
    }
    const { body } = await (clients[0] as Client).get('/metrics');
    const count =
      /^animal_store_http_request_duration_seconds_count\{method="POST",route="\/v1\/pets",status="201"\} (\d+)$/m;
    expect(count.exec(body)?.[1]).toBe('20');
    // One write is how long the server promises to keep idempotency keys.
    expect(body).toMatch(/^animal_store_commit_writes_sum 21$/m);
    expect(body).toMatch(/^animal_store_http_connections 2\d$/m);
    expect(body.match(/^process_start_time_seconds /gm)).toHaveLength(1);
    for (const thread of ['main', 'writer', 'worker 1', 'worker 2', 'worker 3']) {
      expect(body).toContain(`animal_store_thread_busy_seconds_total{thread="${thread}"}`);
    }
    expect((await (clients[1] as Client).get('/readyz')).status).toBe(200);
    expect(await stopService(service)).toEqual({ code: 0, signal: null });
    const messages = messagesOf(service);
    expect(messages.filter((message) => message === 'request')).toHaveLength(62);
    expect(messages.filter((message) => message !== 'request')).toEqual(['listening', 'stopping', 'stopped']);
  });

  test('limits the connections and the rate of all threads together', async () => {
    const service = await startThreads({ MAX_CONNECTIONS: '10', RATE_LIMIT: '30/h' });
    const clients = clientsOf(service, 30);
    const answers = await Promise.allSettled(clients.map((client) => client.get('/livez')));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    const open = clients.filter((_, index) => answers[index]?.status === 'fulfilled');
    const statuses: number[] = [];
    for (let count = 0; count < 40; count++) {
      statuses.push((await (open[count % open.length] as Client).get('/v1/pets')).status);
    }
    expect(statuses).toEqual([...Array(30).fill(200), ...Array(10).fill(429)]);
  });

  test('refuses a port on which another such server listens', async () => {
    const first = await startThreads();
    const { port } = new URL(first.origin);
    const second = runBin(['serve'], { env: { API_KEYS: OPERATOR_KEY, WORKERS: '2', PORT: port } });
    expect(await second.exit).toEqual({ code: 1, signal: null });
    expect(second.out.stderr).toContain(`port ${port} of 127.0.0.1 is used by another program (EADDRINUSE)`);
  });

  test('listens beside another such server on another address, but not on one that overlaps', async () => {
    const { port } = new URL((await startThreads()).origin);
    const other = await startThreads({ PORT: port, HOST: '127.0.0.2' });
    expect(other.origin).toBe(`http://127.0.0.2:${port}`);
    const third = runBin(['serve'], {
      env: { API_KEYS: OPERATOR_KEY, WORKERS: '2', PORT: port, HOST: '0.0.0.0' },
    });
    expect(await third.exit).toEqual({ code: 1, signal: null });
    expect(third.out.stderr).toContain('(EADDRINUSE)');
  });

  test('starts a thread again that has exited: other connections notice nothing, and no acknowledged pet is lost', async () => {
    const service = await startThreads({ LOG_LEVEL: 'info', LOG_SAMPLE: '1/999999' });
    const clients = clientsOf(service, 24);
    const created: string[] = [];
    const errors = clients.map(() => 0);
    let isRunning = true;
    const creating = clients.map(async (client, index) => {
      for (let count = 0; isRunning; count++) {
        const name = `pet ${index} ${count}`;
        try {
          expect((await client.post({ name, categoryId: 1 })).status).toBe(201);
          created.push(name);
        } catch (error) {
          expect((error as NodeJS.ErrnoException).code).toMatch(/ECONNRESET|EPIPE/);
          errors[index] = (errors[index] ?? 0) + 1;
        }
      }
    });
    await expect.poll(() => created.length).toBeGreaterThan(200);
    service.end(0);
    await expect.poll(() => messagesOf(service)).toContain('the thread listens again');
    const before = created.length;
    await expect.poll(() => created.length).toBeGreaterThan(before + 200);
    isRunning = false;
    await Promise.all(creating);
    expect(errors.filter((count) => count === 0).length).toBeGreaterThan(0);
    expect(errors.some((count) => count > 0)).toBe(true);
    const [client] = clients as [Client];
    const stored = await petNames(client);
    expect(new Set(stored).size, BROKEN_PROMISE).toBe(stored.length);
    expect(
      created.filter((name) => !stored.includes(name)),
      BROKEN_PROMISE,
    ).toEqual([]);
    expect((await client.get('/readyz')).status).toBe(200);
    expect((await client.get('/metrics')).body).toMatch(/^animal_store_thread_restarts_total 1$/m);
    expect(await stopService(service)).toEqual({ code: 0, signal: null });
    expect(linesOf(service.out.stderr)).toContainEqual(
      expect.objectContaining({
        level: 50,
        worker: 1,
        msg: 'a thread has exited and is started again',
        err: expect.objectContaining({ message: 'the end of this thread was asked for' }),
      }),
    );
  });

  test('is available again after a fault that only the main thread has found', async () => {
    const file = join(temporaryFolder(), 'pets.db');
    const service = await startThreads({ DATABASE_URL: `sqlite:${file}` });
    const [client] = clientsOf(service, 1) as [Client];
    renameSync(file, `${file}.away`);
    // The main thread counts the records. It checks the files again half a second after its last read.
    await sleep(600);
    expect((await client.get('/metrics')).body).toMatch(/^animal_store_idempotency_records Nan$/m);
    await expect.poll(() => stateLines(service)).toMatchObject([{ level: 50, reason: 'file_missing' }]);
    renameSync(`${file}.away`, file);
    await untilReadinessIs(service, READY);
    expect((await client.get('/metrics')).body).toMatch(/^animal_store_storage_available 1$/m);
    await expect.poll(() => stateLines(service)).toMatchObject([{ level: 50 }, { level: 30 }]);
  });

  test('is not ready while PostgreSQL hangs', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.close());
    const service = await startThreads({ DATABASE_URL: withTimeout(postgres.url, 10_000) });
    const [client] = clientsOf(service, 1) as [Client];
    const status = async () => (await client.get('/readyz')).status;
    await expect.poll(status).toBe(200);
    postgres.freeze();
    await expect.poll(status).toBe(503);
    expect([await status(), await status(), await status()]).toEqual([503, 503, 503]);
    postgres.thaw();
    await expect.poll(status).toBe(200);
  });

  test('ends with status 1 when a second thread exits within a minute', async () => {
    const service = await startThreads();
    service.end(2);
    await expect.poll(() => messagesOf(service)).toContain('the thread listens again');
    service.end(1);
    expect(await service.exit).toEqual({ code: 1, signal: null });
    expect(messagesOf(service).slice(-3)).toEqual(['uncaught error', 'stopping', 'stopped']);
  });
});

test('where threads cannot share a port, one thread serves, and the log says so', async () => {
  const service = await startService({
    nodeArgs: ['--import', OTHER_PLATFORM],
    env: { API_KEYS: OPERATOR_KEY, WORKERS: '2' },
  });
  expect((await service.client.post({ name: 'Rex', categoryId: 1 })).status).toBe(201);
  await stopService(service);
  const lines = linesOf(service.out.stderr);
  expect(lines).toContainEqual(expect.objectContaining({ msg: 'listening', workers: 1 }));
  const message = expect.stringContaining('WORKERS: one thread serves instead of 2');
  expect(lines).toContainEqual(expect.objectContaining({ level: 40, msg: message }));
});

test('threads cannot share a store in memory', async () => {
  const refused = runBin(['serve'], { env: { DATABASE_URL: 'memory:', WORKERS: '2' } });
  expect(await refused.exit).toEqual({ code: 2, signal: null });
  expect(refused.out.stderr).toContain('WORKERS: expected 1 for memory:, got 2');
});
