import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { stopClock, until } from '../../support/clock.ts';
import { Connection } from '../../support/connection.ts';
import { gate } from '../../support/gate.ts';
import { startNodeServer } from '../../support/node-server.ts';
import { REX_JSON } from '../../support/pets.ts';
import { pipelineOf } from '../../support/pipeline.ts';
import { startServer } from '../../support/server.ts';

const GET = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';

/** So long that no test reaches it, in milliseconds. */
const TIMEOUT = 60 * 60 * 1000;

/** More bytes than the buffers of both sockets. */
const BUFFERED = 8 * 1024 * 1024;

describe('a server that stops', () => {
  test('accepts the connections that clients have opened, refuses new ones, completes the requests in flight, and stops', async () => {
    const { wrap, open, entered } = gate();
    const { server, client, origin } = await startServer('memory', { wrap });
    const clock = stopClock();
    const inFlight = client.post(REX_JSON);
    await entered;
    expect(server.isStopping).toBe(false);
    const stopped = server.stop(TIMEOUT);
    expect(server.isStopping).toBe(true);
    expect((await (await Connection.open(origin, GET)).next()).status).toBe(200);
    await untilRefused(origin);
    open();
    expect(await inFlight).toMatchObject({ status: 201, headers: { connection: 'close' } });
    await clock.passUntil(stopped);
  });

  test('responds to requests that are on their way: /readyz 503, /v1 200, 401 without a key', async () => {
    const { wrap, open, entered } = gate();
    const { server, client, origin, key } = await startServer('memory', { wrap });
    const clock = stopClock();
    const authorization = `Authorization: Bearer ${key}\r\n`;
    const partial = (start: string) => Connection.open(origin, start);
    const connections = [
      await partial('GET /readyz HTTP/1.1\r\nHost: x\r\n'),
      await partial('GET /livez HTTP/1.1\r\nHost: x\r\n'),
      await partial(`GET /v1/pets HTTP/1.1\r\nHost: x\r\n${authorization}`),
      await partial('GET /v1/pets HTTP/1.1\r\nHost: x\r\n'),
    ];
    const inFlight = client.post(REX_JSON);
    await entered;
    const stopped = server.stop(TIMEOUT);
    await untilRefused(origin);
    for (const connection of connections) connection.socket.write('\r\n');
    const answers = await Promise.all(connections.map((connection) => connection.next()));
    expect(answers.map(({ status }) => status)).toEqual([503, 200, 200, 401]);
    expect(answers[0]).toMatchObject({ body: '{"status":"unavailable","reason":"stopping"}' });
    for (const { headers } of answers) expect(headers['connection']).toBe('close');
    open();
    expect((await inFlight).status).toBe(201);
    await clock.passUntil(stopped);
  });

  test('handles a request on an idle connection in the second after it has accepted the last connection', async () => {
    const { server, origin, key } = await startServer('memory');
    const clock = stopClock();
    const idle = await Connection.open(origin);
    const stopped = server.stop(TIMEOUT);
    // While clients open connections all the time, the server accepts them for half a second.
    let isOpening = true;
    const openAgain = async () => {
      while (isOpening) (await Connection.open(origin)).destroy();
    };
    const clients = Array.from({ length: 8 }, openAgain);
    for (let time = 0; time < 450; time += 50) {
      (await Connection.open(origin)).destroy();
      clock.pass(50);
    }
    isOpening = false;
    await Promise.all(clients);
    await untilRefused(origin);
    clock.pass(750);
    idle.write(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    expect(await idle.rest()).toMatchObject([{ status: 200, headers: { connection: 'close' } }]);
    await clock.passUntil(stopped);
  });

  test('completes its responses to a client that reads slowly', async () => {
    const body = Buffer.alloc(BUFFERED, 'x');
    const respond = vi.fn((_req: IncomingMessage, res: ServerResponse) => void res.end(body));
    const { server, origin } = await startNodeServer(respond);
    const clock = stopClock();
    const connection = await Connection.open(origin, '', (answer) => answer);
    connection.socket.pause();
    connection.write(GET.repeat(2));
    await until(() => respond.mock.calls.length === 2);
    const stopped = server.stop(TIMEOUT);
    await untilRefused(origin);
    clock.pass(1500);
    connection.socket.resume();
    const answers = connection.rest();
    await clock.passUntil(stopped);
    expect((await answers).map((answer) => answer.body.length)).toEqual([BUFFERED, BUFFERED]);
  });

  test.each([Number.POSITIVE_INFINITY, 2 ** 31])(
    'completes requests with a timeout of %d',
    async (timeout) => {
      const { wrap, open, entered } = gate();
      const { server, client } = await startServer('memory', { wrap });
      const inFlight = client.post(REX_JSON);
      await entered;
      const stopped = server.stop(timeout);
      await delay(20);
      open();
      expect((await inFlight).status).toBe(201);
      await stopped;
    },
  );

  test('closes the remaining connections at its deadline', async () => {
    const { wrap, open, entered } = gate();
    const { server, client, storage } = await startServer('memory', { wrap });
    const cut = expect(client.post(REX_JSON)).rejects.toThrow(/socket hang up|ECONNRESET/);
    await entered;
    await server.stop(50);
    await cut;
    open();
    await expect.poll(async () => (await storage.pets.list({ limit: 1 })).pets.length).toBe(1);
  });

  test.each<[when: string, isStopped: boolean]>([
    ['after the machine stood still', true],
    ['before it closes the idle connections, and is not read yet', false],
  ])('handles a request on an idle connection that arrives %s', async (_when, isStopped) => {
    const { origin, key, server } = await startServer('memory');
    const idle = await Connection.open(origin);
    await expect.poll(() => server.statistics().connections).toBe(1);
    const clock = stopClock();
    const stopped = server.stop(TIMEOUT);
    await untilRefused(origin);
    const send = () => idle.write(`GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
    if (isStopped) {
      const now = vi.spyOn(performance, 'now');
      for (let count = 0; count < 10; count++) {
        now.mockReturnValue(performance.now() + 2000);
        clock.pass(50);
      }
      now.mockRestore();
      send();
    } else {
      // Timers are due before the event loop reads from sockets.
      await new Promise((resolve) => setImmediate(resolve));
      send();
      clock.pass(1000);
    }
    expect(await idle.next()).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await clock.passUntil(stopped);
  });

  test.each([
    ['it is idle', false],
    ['the body of its last request came after the response', true],
  ])('closes a connection after exactly a second if %s', async (_, hasBody) => {
    const { server, origin, client } = await startServer('memory');
    const clock = stopClock();
    const connection = await Connection.open(origin);
    if (hasBody) {
      connection.write('POST /v1/pets HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n');
      expect((await connection.next()).status).toBe(401);
      connection.socket.write('{}');
      // The server has read what was sent before.
      await client.get('/livez');
    }
    const stopped = server.stop(TIMEOUT);
    await untilRefused(origin);
    clock.pass(1000);
    expect(await connection.rest()).toEqual([]);
    await clock.passUntil(stopped);
  });

  test('handles a request that began to arrive before the response to the previous one', async () => {
    const { wrap, open, entered } = gate();
    const { server, origin, client, key } = await startServer('memory', { wrap });
    const clock = stopClock();
    const connection = await Connection.open(origin, pipelineOf(key).create(1));
    await entered;
    connection.write(GET.slice(0, -2));
    await client.get('/livez');
    open();
    expect((await connection.next()).status).toBe(201);
    const stopped = server.stop(TIMEOUT);
    await untilRefused(origin);
    clock.pass(1500);
    // The connections that are idle are closed in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    connection.socket.write(GET.slice(-2));
    expect(await connection.rest()).toMatchObject([{ status: 200, headers: { connection: 'close' } }]);
    await clock.passUntil(stopped);
  });
});

/** Waits until the server refuses new connections. From then on, responses have `Connection: close`. */
async function untilRefused(origin: string): Promise<void> {
  const isRefused = (error: unknown) => String(error).includes('ECONNREFUSED');
  await until(
    async () => (await Connection.open(origin).then((opened) => opened.destroy(), isRefused)) === true,
  );
}
