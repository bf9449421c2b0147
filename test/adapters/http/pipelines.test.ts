import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Connection } from '../../support/connection.ts';
import { gate } from '../../support/gate.ts';
import { numbers, pipelineOf } from '../../support/pipeline.ts';
import { STORAGES, sharedServer, startServer } from '../../support/server.ts';

/** One connection has at most 16 requests in progress. */
const CONCURRENT = 16;

test.each(STORAGES)('creates in one pipeline get their responses in order, on %s', async (storage) => {
  const { origin, client, key } = await startServer(storage);
  const { create } = pipelineOf(key);
  const connection = await Connection.open(origin);
  const names = numbers(100).map((number) => `pet ${number}`);
  connection.write(names.map(create).join(''));
  const created: { id: number; name: string }[] = [];
  for (const _ of names) {
    const { status, body } = await connection.next();
    expect(status).toBe(201);
    created.push(JSON.parse(body));
  }
  expect(created.map(({ name }) => name)).toEqual(names);
  // Creates in progress at the same time can get their ids in any order.
  const { body } = await client.get('/v1/pets?limit=100');
  expect(JSON.parse(body)).toEqual(created.toSorted((a, b) => a.id - b.id));
  connection.destroy();
});

describe('requests in one pipeline', () => {
  const server = sharedServer('memory');

  test('are separated correctly wherever a read ends, after a flood of requests', async () => {
    const { get, create } = pipelineOf(server.key);
    const flood = await Connection.open(server.origin);
    flood.write(get('/v1/pets/0').repeat(100));
    for (const _ of numbers(100)) expect((await flood.next()).status).toBe(404);
    const bytes = Buffer.from((create('Rex') + get('/v1/pets?limit=1')).repeat(6));
    for (const size of [7, 100, 511, 512, 513, 1024, bytes.length]) {
      for (const connection of [flood, await Connection.open(server.origin)]) {
        await connection.writeInPieces(bytes, size);
        for (const _ of numbers(6)) {
          expect((await connection.next()).status).toBe(201);
          expect((await connection.next()).status).toBe(200);
        }
      }
    }
    expect(server.errors).toEqual([]);
  });

  test('are processed by a few dozen at a time', async () => {
    const { wrap, open, waiting } = gate();
    const { origin, client, key } = await startServer('memory', { wrap });
    const { create } = pipelineOf(key);
    const connections = await Promise.all(numbers(3).map(() => Connection.open(origin)));
    for (const connection of connections) connection.write(create('Rex').repeat(60));
    await expect.poll(waiting).toBeGreaterThanOrEqual(3 * (CONCURRENT - 1));
    for (const _ of numbers(10)) expect((await client.get('/livez')).status).toBe(200);
    expect(waiting()).toBeLessThanOrEqual(3 * (CONCURRENT + 1));
    open();
    for (const connection of connections) {
      for (const _ of numbers(60)) expect((await connection.next()).status).toBe(201);
      connection.destroy();
    }
  });

  test('whose responses are never read are not read either, and do not block other clients', async () => {
    let answered = 0;
    const { origin, client, key } = await startServer('memory', {
      observers: [{ onRequest: ({ method }) => (answered += method === 'GET' ? 1 : 0) }],
    });
    const { create, get } = pipelineOf(key);
    const creating = await Connection.open(origin);
    creating.write(create('\u{1f600}'.repeat(255)).repeat(100));
    for (const _ of numbers(100)) expect((await creating.next()).status).toBe(201);
    creating.destroy();
    const count = 500;
    const clients = numbers(2).map(() => deafClient(origin, get('/v1/pets?limit=100').repeat(count)));
    await Promise.all(clients.map((socket) => once(socket, 'connect')));
    // A response has 110 KB. The socket buffers hold a few dozen responses, and a few dozen requests are in flight.
    let before: number;
    do {
      before = answered;
      for (const _ of numbers(20))
        expect((await client.request('HEAD', '/v1/pets?limit=1')).status).toBe(200);
    } while (answered > before);
    expect(answered).toBeGreaterThan(2);
    expect(answered).toBeLessThan((clients.length * count) / 2);
  });

  test('do not time out while they wait for earlier responses', async () => {
    const { wrap, open, waiting } = gate();
    const { origin, key } = await startServer('memory', { wrap, headersTimeout: 500, requestTimeout: 500 });
    const { create } = pipelineOf(key);
    const connection = await Connection.open(origin);
    connection.write(create('Rex').repeat(400));
    await expect.poll(waiting).toBeGreaterThanOrEqual(CONCURRENT - 1);
    const slow = await Connection.open(origin);
    slow.write(create('Rex').slice(0, -1));
    expect((await slow.rest()).map(({ status }) => status)).toEqual([408]);
    open();
    for (const _ of numbers(400)) expect((await connection.next()).status).toBe(201);
    connection.destroy();
  });

  test('after a request that is too large are not read', async () => {
    const { create } = pipelineOf(server.key);
    const list = async () => (await server.client.get('/v1/pets?limit=100')).body;
    const before = await list();
    const large = create('x'.repeat(70_000));
    const connection = await Connection.open(server.origin);
    connection.write(large + create('unread').repeat(3));
    expect((await connection.rest()).map(({ status }) => status)).toEqual([413]);
    expect(await list()).toBe(before);
    expect(server.errors).toEqual([]);
  });
});

/** Starts a client that sends bytes and never reads a response. */
function deafClient(origin: string, bytes: string): Socket {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1').pause();
  onTestFinished(() => {
    socket.destroy();
  });
  socket.on('error', () => {});
  socket.write(bytes);
  return socket;
}
