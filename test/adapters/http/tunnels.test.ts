import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { stopClock, until } from '../../support/clock.ts';
import { Connection } from '../../support/connection.ts';
import { gate } from '../../support/gate.ts';
import { startNodeServer } from '../../support/node-server.ts';
import { numbersIn } from '../../support/pets.ts';
import { pipelineOf } from '../../support/pipeline.ts';
import { sharedServer, startServer } from '../../support/server.ts';

const CONNECT = 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n';
const UPGRADE = 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';

describe('CONNECT and Upgrade', () => {
  const server = sharedServer('memory');
  const create = (number: number) => pipelineOf(server.key).create(number);
  /** Waits until the server has read what was sent on other connections. */
  const untilRead = async () => expect((await server.client.get('/livez')).status).toBe(200);
  const stored = async () => numbersIn((await server.client.get('/v1/pets?limit=100')).body);

  test.each([
    ['after CONNECT', CONNECT],
    ['in the middle of CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHo'],
    ['after an upgrade', `GET /livez HTTP/1.1\r\n${UPGRADE}\r\n`],
  ])('a connection that is reset %s does not affect the server', async (_case, bytes) => {
    await untilRead();
    const { connections } = server.server.statistics();
    for (const isRead of [false, true]) {
      const socket = connect(Number(new URL(server.origin).port), '127.0.0.1');
      socket.on('error', () => {});
      await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
      if (isRead) await untilRead();
      socket.resetAndDestroy();
    }
    await untilRead();
    await expect.poll(() => server.server.statistics().connections).toBe(connections);
    expect(server.errors).toEqual([]);
  });

  test('bytes after CONNECT are read while earlier requests are in progress', async () => {
    const { wrap, open, entered } = gate();
    const { origin, key } = await startServer('memory', { wrap });
    const connection = await Connection.open(origin, pipelineOf(key).create(1) + CONNECT);
    await entered;
    // More bytes than the buffers of both sockets.
    await new Promise((resolve) => connection.socket.write('x'.repeat(8 * 1024 * 1024), resolve));
    open();
    expect((await connection.rest()).map(({ status }) => status)).toEqual([201, 405]);
  });

  test('a client that still sends when its connection is closed gets the last response', async () => {
    const connection = await Connection.open(server.origin);
    connection.socket.pause();
    for (const bytes of [`GET /livez HTTP/1.1\r\n${UPGRADE}\r\n`, 'x', 'y']) {
      connection.socket.write(bytes);
      await untilRead();
    }
    connection.socket.resume();
    expect(await connection.rest()).toMatchObject([{ status: 200, headers: { connection: 'close' } }]);
  });

  test('a create that requests an upgrade is stored once, and its response is the last', async () => {
    const connection = await Connection.open(server.origin);
    const upgrading = (number: number) =>
      create(number).replace('Content-Type', 'Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Type');
    connection.write(upgrading(11) + create(12));
    expect(await connection.rest()).toMatchObject([{ status: 201, headers: { connection: 'close' } }]);
    const inPieces = await Connection.open(server.origin);
    await inPieces.writeInPieces(Buffer.from(upgrading(13)), 7);
    expect(await inPieces.rest()).toMatchObject([{ status: 201, headers: { connection: 'close' } }]);
    expect((await stored()).filter((number) => number > 10)).toEqual([11, 13]);
  });
});

const GET = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';
/** More bytes than the buffers of both sockets. */
const BUFFERED = Buffer.alloc(8 * 1024 * 1024, 'x');

describe.each([
  ['a CONNECT request', CONNECT],
  ['an invalid message', 'garbage\r\n\r\n'],
])('%s behind requests', (_what, message) => {
  /** Sends two requests and the message on one connection. Returns when the server has read all. */
  async function sendBehind(respond: (res: ServerResponse) => void) {
    const closed = vi.fn();
    const handle = vi.fn((_req: IncomingMessage, res: ServerResponse) => respond(res.once('close', closed)));
    const { server, origin } = await startNodeServer(handle);
    const clock = stopClock();
    const connection = await Connection.open(origin);
    connection.socket.pause();
    connection.write(GET.repeat(2) + message);
    await until(() => handle.mock.calls.length === 2);
    return { server, clock, connection, closed };
  }

  test.each<[string, (res: ServerResponse) => void]>([
    ['whose responses are not read', (res) => res.end(BUFFERED)],
    ['whose handlers do not respond', () => {}],
  ])('%s delays no stop beyond its deadline', async (_case, respond) => {
    const { server, clock, connection, closed } = await sendBehind(respond);
    await clock.passUntil(server.stop(1500));
    expect(server.statistics().connections).toBe(0);
    await until(() => closed.mock.calls.length === 2);
    connection.destroy();
  });

  test('is disconnected if the client only sends', async () => {
    const { server, clock, connection, closed } = await sendBehind((res) => res.end(BUFFERED));
    for (let minutes = 0; minutes < 2; minutes++) {
      connection.socket.write('x');
      clock.pass(60_000);
    }
    await until(() => server.statistics().connections === 0);
    await until(() => closed.mock.calls.length === 2);
    connection.destroy();
  });
});
