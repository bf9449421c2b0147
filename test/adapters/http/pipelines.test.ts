import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { UserMiddleware } from '../../../src/adapters/http/index.ts';
import { Connection } from '../../support/connection.ts';
import { gate } from '../../support/gate.ts';
import { CHANGING } from '../../support/lifecycle.ts';
import { changeJson, numberedJson, numbersIn } from '../../support/pets.ts';
import { numbers, pipelineOf } from '../../support/pipeline.ts';
import { STORAGES, sharedServer, startServer } from '../../support/server.ts';

/** The maximum number of requests that a client can send without waiting for a response. */
const LIMIT = 16;

test.each(STORAGES)('requests in one pipeline take effect in their order, on %s', async (storage) => {
  const { origin, client, key } = await startServer(storage, CHANGING);
  const { create, get, write } = pipelineOf(key);
  const { headers } = await client.post(numberedJson(0));
  const [target, tag] = [headers['location'] ?? '', headers['etag'] ?? ''];
  const connection = await Connection.open(origin, '', (answer) => answer);
  connection.write(
    [
      get(target),
      write('PATCH', target, tag, changeJson(1)),
      write('DELETE', target, tag),
      get(target),
      create(2),
      get('/v1/pets'),
      write('DELETE', target, '*'),
      get(target),
    ].join(''),
  );
  const answers = [];
  for (let count = 0; count < 8; count++) answers.push(await connection.next());
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 412, 200, 201, 200, 204, 404]);
  expect(answers[0]?.headers['etag']).toBe(tag);
  expect(answers[3]?.body).toBe(answers[1]?.body);
  expect(numbersIn(answers[5]?.body ?? '')).toEqual([1, 2]);
});

test('reads in one pipeline are handled side by side, and writes one at a time', async () => {
  const reads = gate('list');
  const writes = gate();
  const { origin, client, key } = await startServer('memory', { wrap: (it) => reads.wrap(writes.wrap(it)) });
  const { create, get } = pipelineOf(key);
  const connection = await Connection.open(origin);
  connection.write(get('/v1/pets').repeat(3) + create(1).repeat(2) + get('/v1/pets').repeat(11));
  await expect.poll(reads.waiting).toBe(3);
  await client.get('/livez');
  expect(writes.waiting()).toBe(0);
  reads.open();
  await expect.poll(writes.waiting).toBe(1);
  await client.get('/livez');
  expect(writes.waiting()).toBe(1);
  writes.open();
  const answers = await connection.rest();
  const listed = answers.map(({ body }) => numbersIn(body.startsWith('[') ? body : '[]').length);
  expect(listed).toEqual([...Array(5).fill(0), ...Array(11).fill(2)]);
});

test('a write behind another one is not executed if the client leaves before its turn', async () => {
  const { wrap, open, entered } = gate();
  const { origin, client, key, server } = await startServer('memory', { wrap });
  const { create, get } = pipelineOf(key);
  const connection = await Connection.open(origin, create(1) + create(2) + get('/v1/pets'));
  await entered;
  connection.socket.resetAndDestroy();
  await expect.poll(() => server.statistics().connections).toBe(1);
  open();
  await expect.poll(() => server.statistics().requestsInFlight).toBe(0);
  expect(numbersIn((await client.get('/v1/pets')).body)).toEqual([1]);
});

test('each request in a pipeline is handled in its own asynchronous context, as tracing needs', async () => {
  const context = new AsyncLocalStorage<string | undefined>();
  const enter = (message: unknown) =>
    context.enterWith((message as { request: IncomingMessage }).request.url);
  subscribe('http.server.request.start', enter);
  onTestFinished(() => void unsubscribe('http.server.request.start', enter));
  const seen: unknown[] = [];
  const note: UserMiddleware = (_ctx, next) => {
    seen.push(context.getStore());
    return next();
  };
  const { origin, key } = await startServer('memory', { middleware: { beforeKey: [note] } });
  const targets = ['/v1/pets?a', '/v1/pets?b', '/v1/pets?c'];
  const connection = await Connection.open(origin);
  const { create } = pipelineOf(key);
  connection.write(targets.map((target) => create(1).replace('/v1/pets', target)).join(''));
  for (const _ of targets) expect((await connection.next()).status).toBe(201);
  expect(seen).toEqual(targets);
});

test('a server that stops completes the requests of a pipeline', async () => {
  const { wrap, open, entered } = gate();
  const { origin, key, server } = await startServer('memory', { wrap });
  const { create, get } = pipelineOf(key);
  const connection = await Connection.open(origin, create(1) + create(2) + get('/v1/pets'));
  await entered;
  const stopped = server.stop(100_000);
  open();
  expect((await connection.rest()).map(({ status }) => status)).toEqual([201, 201, 200]);
  await stopped;
});

test('a client that closes its side after its requests gets their responses', async () => {
  const { wrap, open, entered } = gate();
  const { origin, key } = await startServer('memory', { wrap });
  const { create } = pipelineOf(key);
  const connection = await Connection.open(origin, create(1) + create(2));
  connection.socket.end();
  await entered;
  open();
  expect((await connection.rest()).map(({ status }) => status)).toEqual([201, 201]);
});

describe('requests in one pipeline', () => {
  const server = sharedServer('memory');

  test.each([LIMIT + 1, 5000])(
    'that are %i: the first sixteen get their responses, the last of them closes the connection',
    async (count) => {
      const { wrap, open, waiting } = gate();
      const { origin, client, key } = await startServer('memory', { wrap });
      const { create, get } = pipelineOf(key);
      const connection = await Connection.open(origin);
      connection.write(create(1).repeat(LIMIT) + create(2) + get('/v1/pets').repeat(count - LIMIT - 1));
      await expect.poll(waiting).toBe(1);
      expect((await client.get('/livez')).status).toBe(200);
      open();
      const answers = await connection.rest();
      expect(answers.map(({ status }) => status)).toEqual(numbers(LIMIT).map(() => 201));
      expect(answers.findIndex(({ headers }) => headers['connection'] === 'close')).toBe(LIMIT - 1);
      expect(numbersIn((await client.get('/v1/pets?limit=100')).body)).toEqual(numbers(LIMIT).map(() => 1));
    },
  );

  // Node.js reads at most 64 KiB at once.
  test.each([17_000, 70_000])(
    'after a request of %i bytes, which is too large, are ignored',
    async (size) => {
      const { create } = pipelineOf(server.key);
      const list = async () => (await server.client.get('/v1/pets?limit=100')).body;
      const before = await list();
      const connection = await Connection.open(server.origin, create(1, size) + create(2).repeat(3));
      expect((await connection.rest()).map(({ status }) => status)).toEqual([413]);
      expect(await list()).toBe(before);
      expect(server.errors).toEqual([]);
    },
  );
});
