import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Connection } from '../../support/connection.ts';
import { gate } from '../../support/gate.ts';
import { STORAGES, sharedServer, startServer } from '../../support/server.ts';

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

function requestsOf(key: string) {
  const fields = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
  return {
    get: (target: string) => `GET ${target} HTTP/1.1\r\n${fields}\r\n`,
    create(name: string) {
      const body = JSON.stringify({ name, categoryId: 1 });
      return `POST /v1/pets HTTP/1.1\r\n${fields}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    },
  };
}

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

describe.each(STORAGES)('requests in one pipeline, on %s', (storage) => {
  const server = sharedServer(storage);

  test.each(['GET', 'POST'])('get their responses in order: 1,500 times %s', async (method) => {
    const { get, create } = requestsOf(server.key);
    const connection = await Connection.open(server.origin);
    const count = 1500;
    connection.write(
      numbers(count)
        .map((number) => (method === 'GET' ? get(`/v1/pets/${number}x`) : create(`pet ${number}`)))
        .join(''),
    );
    let last = 0;
    for (const number of numbers(count)) {
      const { status, body } = await connection.next();
      if (method === 'GET') {
        expect(status).toBe(404);
      } else {
        const { id, name } = JSON.parse(body);
        expect([status, name]).toEqual([201, `pet ${number}`]);
        expect(id).toBeGreaterThan(last);
        last = id;
      }
    }
    connection.destroy();
  });

  test('are separated correctly wherever a read ends, after a flood of requests', async () => {
    const { get, create } = requestsOf(server.key);
    const flood = await Connection.open(server.origin);
    flood.write(get('/livez').repeat(200));
    for (const _ of numbers(200)) expect((await flood.next()).status).toBe(200);
    const bytes = Buffer.from((create('Rex') + get('/v1/pets?limit=1')).repeat(40));
    for (const size of [7, 100, 1000, 1024, 1025, 5000, bytes.length]) {
      for (const connection of [flood, await Connection.open(server.origin)]) {
        await connection.writeInPieces(bytes, size);
        for (const _ of numbers(40)) {
          expect((await connection.next()).status).toBe(201);
          expect((await connection.next()).status).toBe(200);
        }
      }
    }
    expect(server.errors).toEqual([]);
  });

  test('are processed by a few dozen at a time', async () => {
    const { wrap, open, waiting } = gate();
    const { origin, key } = await startServer(storage, { wrap });
    const { create } = requestsOf(key);
    const connections = await Promise.all(numbers(3).map(() => Connection.open(origin)));
    for (const connection of connections) connection.write(create('Rex').repeat(400));
    await expect.poll(waiting).toBeGreaterThanOrEqual(45);
    await sleep(200);
    expect(waiting()).toBeLessThanOrEqual(3 * 17);
    open();
    for (const connection of connections) {
      for (const _ of numbers(400)) expect((await connection.next()).status).toBe(201);
      connection.destroy();
    }
  });

  test('whose responses are never read are not read either, and do not block other clients', async () => {
    const { origin, client, key, answered } = await countingServer(storage);
    const { get } = requestsOf(key);
    for (const _ of numbers(100)) await client.post({ name: '\u{1f600}'.repeat(255), categoryId: 1 });
    const clients = numbers(10).map(() => deafClient(origin, get('/v1/pets?limit=100').repeat(1000)));
    await Promise.all(clients.map((socket) => once(socket, 'connect')));
    for (const _ of numbers(20)) expect((await client.get('/v1/pets?limit=1')).status).toBe(200);
    await sleep(500);
    const before = answered();
    await sleep(500);
    // A response has 110 KB. The socket buffers hold a few dozen responses, and a few dozen requests are in flight.
    expect(answered()).toBeLessThan(10 * 200);
    expect(answered() - before).toBeLessThan(10);
  });

  test('do not time out while they wait for earlier responses', async () => {
    const { wrap, open, waiting } = gate();
    const { origin, key } = await startServer(storage, { wrap, headersTimeout: 300, requestTimeout: 600 });
    const { create } = requestsOf(key);
    const connection = await Connection.open(origin);
    connection.write(create('Rex').repeat(400));
    await expect.poll(waiting).toBeGreaterThanOrEqual(15);
    await sleep(3000);
    open();
    for (const _ of numbers(400)) expect((await connection.next()).status).toBe(201);
    connection.destroy();
  });

  test('after a request that is too large are not read', async () => {
    const { create } = requestsOf(server.key);
    const count = async () =>
      (await server.client.get('/v1/pets?limit=100&after=0')).body.split('unread').length;
    const before = await count();
    const large = create('x'.repeat(70_000));
    const connection = await Connection.open(server.origin);
    connection.write(large + create('unread').repeat(3));
    expect((await connection.rest()).map(({ status }) => status)).toEqual([413]);
    expect(await count()).toBe(before);
  });

  test('do not affect later requests', async () => {
    expect((await server.client.get('/livez')).status).toBe(200);
    expect(server.errors).toEqual([]);
  });
});

async function countingServer(storage: (typeof STORAGES)[number]) {
  let count = 0;
  const server = await startServer(storage, {
    observers: [{ onRequest: () => (count += 1) }],
  });
  return { ...server, answered: () => count };
}
