import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Admission } from '../../../src/adapters/http/api/admission.ts';
import { Connection } from '../../support/connection.ts';
import { gate } from '../../support/gate.ts';
import { STORAGES, startServer } from '../../support/server.ts';

describe.each(STORAGES)('a server that stops, on %s', (storage) => {
  test('accepts the connections that clients have opened, refuses new ones, completes the requests in flight, and stops', async () => {
    const { wrap, open, entered } = gate();
    const { server, client, origin } = await startServer(storage, { wrap });
    const inFlight = client.post({ name: 'Rex', categoryId: 1 });
    await entered;
    expect(server.isStopping).toBe(false);
    const stopped = server.stop(60_000);
    expect(server.isStopping).toBe(true);
    const accepted = await Connection.open(origin);
    accepted.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await accepted.next()).status).toBe(200);
    await untilRefused(origin);
    open();
    expect(await inFlight).toMatchObject({ status: 201, headers: { connection: 'close' } });
    await stopped;
  });

  test('responds to requests that are on their way: /readyz 503, /v1 200, 401 without a key', async () => {
    const { wrap, open, entered } = gate();
    const { server, client, origin, key } = await startServer(storage, { wrap });
    const authorization = `Authorization: Bearer ${key}\r\n`;
    const partial = async (start: string) => {
      const connection = await Connection.open(origin);
      connection.write(start);
      return connection;
    };
    const connections = [
      await partial('GET /readyz HTTP/1.1\r\nHost: x\r\n'),
      await partial('GET /livez HTTP/1.1\r\nHost: x\r\n'),
      await partial(`GET /v1/pets HTTP/1.1\r\nHost: x\r\n${authorization}`),
      await partial('GET /v1/pets HTTP/1.1\r\nHost: x\r\n'),
    ];
    const inFlight = client.post({ name: 'Rex', categoryId: 1 });
    await entered;
    const stopped = server.stop(60_000);
    await untilRefused(origin);
    for (const connection of connections) connection.socket.write('\r\n');
    const answers = await Promise.all(connections.map((connection) => connection.next()));
    expect(answers.map(({ status }) => status)).toEqual([503, 200, 200, 401]);
    expect(answers[0]).toMatchObject({ body: '{"status":"unavailable","reason":"stopping"}' });
    for (const { headers } of answers) expect(headers['connection']).toBe('close');
    open();
    expect((await inFlight).status).toBe(201);
    await stopped;
  });

  test('responds on all connections that clients open at the moment of the stop', async () => {
    const { server, origin } = await startServer(storage);
    const opening = Array.from({ length: 100 }, () => Connection.open(origin));
    const stopped = server.stop(60_000);
    const answers = opening.map(async (each) => {
      const connection = await each;
      connection.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
      return (await connection.next()).status;
    });
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
    await stopped;
  });

  test('closes idle connections', async () => {
    const { server, origin } = await startServer(storage);
    const connection = await Connection.open(origin);
    connection.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    expect((await connection.next()).headers['connection']).not.toBe('close');
    await server.stop(60_000);
    await connection.closed;
    connection.destroy();
  });

  test.each([0, 200])(
    'responds to a request that arrives %i ms after the stop on an idle connection',
    async (delay) => {
      const { server, origin } = await startServer(storage);
      const connections = await Promise.all(Array.from({ length: 20 }, () => Connection.open(origin)));
      for (const connection of connections) {
        connection.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
        await connection.next();
      }
      const stopped = server.stop(60_000);
      await untilRefused(origin);
      await sleep(delay);
      for (const connection of connections) connection.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
      for (const connection of connections) {
        expect(await connection.rest()).toMatchObject([{ status: 200, headers: { connection: 'close' } }]);
      }
      await stopped;
    },
  );

  test('handles a request on an idle connection in the second after it has accepted the last connection', async () => {
    const { server, origin, key } = await startServer(storage);
    const idle = await Connection.open(origin);
    const stoppedAt = performance.now();
    const stopped = server.stop(60_000);
    // While clients open connections all the time, the server accepts them for half a second.
    while (performance.now() - stoppedAt < 450) (await Connection.open(origin)).destroy();
    await sleep(1200 - (performance.now() - stoppedAt));
    idle.write(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    expect(await idle.rest()).toMatchObject([{ status: 200, headers: { connection: 'close' } }]);
    await stopped;
  });

  test('completes its responses to a client that reads slowly', async () => {
    const { server, origin, client } = await startServer(storage);
    const { body } = await client.get('/docs/docs.js');
    const connection = await Connection.open(origin);
    connection.socket.pause();
    connection.write('GET /docs/docs.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(160));
    await expect.poll(() => connection.socket.bytesWritten).toBeGreaterThan(0);
    await sleep(100);
    const stopped = server.stop(60_000);
    await sleep(1500);
    connection.socket.resume();
    const bodies = (await connection.rest()).map((answer) => answer.body.length);
    expect(bodies).toEqual(Array.from({ length: 160 }, () => body.length));
    await stopped;
  });

  test('closes the remaining connections at its deadline', async () => {
    const { wrap, open, entered } = gate();
    const { server, client, storage: store } = await startServer(storage, { wrap });
    const inFlight = client.post({ name: 'Rex', categoryId: 1 });
    const cut = expect(inFlight).rejects.toThrow(/socket hang up|ECONNRESET/);
    await entered;
    await server.stop(50);
    await cut;
    open();
    await expect.poll(async () => (await store.pets.list({ limit: 1 })).pets.length).toBe(1);
  });

  test('rejects a port that is in use', async () => {
    const first = await startServer(storage);
    const second = await startServer(storage);
    await second.server.stop(0);
    await expect(second.server.listen(Number(new URL(first.origin).port), '127.0.0.1')).rejects.toThrow(
      'EADDRINUSE',
    );
  });
});

/** Waits until the server refuses new connections. From then on, responses have `Connection: close`. */
async function untilRefused(origin: string): Promise<void> {
  const attempt = () =>
    new Promise((resolve) => {
      const socket = connect(Number(new URL(origin).port), '127.0.0.1');
      socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
      socket.once('connect', () => resolve(socket.destroy()));
    });
  await expect.poll(attempt, { interval: 5 }).toBe('ECONNREFUSED');
}

test('requests are admitted at first after the stop, and refused later', () => {
  const admission = new Admission();
  admission.stop();
  expect(admission.isStopping).toBe(true);
  expect(admission.refusalOf('GET', 'caller', false)).toBeUndefined();
  admission.refuse();
  expect(admission.refusalOf('GET', 'caller', false)).toMatchObject({
    code: 'overloaded',
    message: 'the server is stopping',
  });
  expect(admission.refusalOf('GET', undefined, false)).toBeUndefined();
});
