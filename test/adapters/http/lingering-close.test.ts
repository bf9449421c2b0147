import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { lingeringClose } from '../../../src/adapters/http/node/connections.ts';
import { stopClock, until } from '../../support/clock.ts';
import { sharedServer } from '../../support/server.ts';
import { listen, openSockets, type SocketPair } from '../../support/sockets.ts';

/** More bytes than the buffers of both sockets, so that some bytes are unread when the connection is closed. */
const SENT_BEHIND = 'x'.repeat(8 * 1024 * 1024);

describe('the last response of a connection', () => {
  const server = sharedServer('memory');
  const GET = ['GET /livez HTTP/1.1', 'Host: x'];
  const CREATE = ['POST /v1/pets HTTP/1.1', 'Host: x'];
  const KEY = 'Authorization: Bearer KEY';
  const JSON_TYPE = 'Content-Type: application/json';
  const LENGTH = `Content-Length: ${SENT_BEHIND.length}`;
  const CHUNK = ['Transfer-Encoding: chunked', '', SENT_BEHIND.length.toString(16)];

  test.each<[when: string, status: number, lines: string[]]>([
    ['the client requested Connection: close', 200, [...GET, 'Connection: close']],
    ['the client requested an upgrade', 200, [...GET, 'Upgrade: x', 'Connection: upgrade']],
    ['the request is HTTP/1.0', 200, ['GET /livez HTTP/1.0']],
    ['the framing was refused', 400, [...GET, 'Transfer-Encoding: gzip, chunked', '', '0']],
    ['a chunk of the body is too large', 413, [...CREATE, KEY, JSON_TYPE, ...CHUNK]],
    ['the body has a length over the limit', 413, [...CREATE, KEY, JSON_TYPE, LENGTH]],
    ['the body has another media type', 415, [...CREATE, KEY, 'Content-Type: text/plain', LENGTH]],
    ['the body came without a key', 401, [...CREATE, JSON_TYPE, LENGTH]],
    ['the head is too large', 431, [...GET, `X: ${'x'.repeat(20_000)}`]],
    ['a tunnel was refused', 405, ['CONNECT x:80 HTTP/1.1', 'Host: x:80']],
    ['the message is not HTTP', 400, ['GET']],
  ])('reaches a client that continues to send, when %s', async (_when, status, lines) => {
    stopClock();
    const { port, hostname } = new URL(server.origin);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const faults: Error[] = [];
    socket.on('error', (error) => faults.push(error));
    socket.write(`${lines.join('\r\n').replace('KEY', server.key)}\r\n\r\n`);
    socket.write(SENT_BEHIND);
    await once(socket, 'drain');
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    await once(socket, 'data');
    socket.end();
    await once(socket, 'close');
    expect(faults).toEqual([]);
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
});

describe('lingeringClose', () => {
  /** Connects a client to a socket, and controls the clock. */
  async function connected(): Promise<SocketPair> {
    const server = createServer({ allowHalfOpen: true });
    await listen(server);
    const pair = await openSockets(server);
    pair.client.resume();
    pair.socket.resume();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    return pair;
  }

  /** Lets time pass, and then the turns in which the socket reads. */
  async function pass(milliseconds: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(milliseconds);
    for (let turn = 0; turn < 3; turn++) await nextTurn();
  }

  async function send(client: Socket, socket: Socket): Promise<void> {
    client.write('x');
    await once(socket, 'data');
  }

  test('destroys the socket 1 second after the last byte of the client', async () => {
    const { socket, client } = await connected();
    lingeringClose(socket);
    await once(client, 'end');
    await pass(600);
    await send(client, socket);
    await pass(999);
    expect(socket.destroyed).toBe(false);
    await pass(1);
    expect(socket.destroyed).toBe(true);
  });

  test('reads what has arrived while the process stood still before it calls the client silent', async () => {
    const { socket, client } = await connected();
    lingeringClose(socket);
    await once(client, 'end');
    client.write('x');
    vi.advanceTimersByTime(1000);
    await once(socket, 'data');
    await pass(999);
    expect(socket.destroyed).toBe(false);
    await pass(1);
    expect(socket.destroyed).toBe(true);
  });

  test('destroys the socket of a client that sends for more than 30 seconds', async () => {
    const { socket, client } = await connected();
    lingeringClose(socket);
    await once(client, 'end');
    for (let time = 500; time < 30_000; time += 500) {
      await pass(500);
      await send(client, socket);
    }
    await pass(499);
    expect(socket.destroyed).toBe(false);
    await pass(1);
    expect(socket.destroyed).toBe(true);
  });

  test('destroys the socket when the client ends its side, and leaves no timer', async () => {
    const { socket, client } = await connected();
    lingeringClose(socket);
    await once(client, 'end');
    expect(socket.destroyed).toBe(false);
    client.end();
    await once(socket, 'close');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('destroys the socket after its last data when the client has ended its side before', async () => {
    const { socket, client } = await connected();
    let received = '';
    client.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    client.end();
    socket.resume();
    await once(socket, 'end');
    socket.write('last');
    lingeringClose(socket);
    await once(socket, 'close');
    await once(client, 'close');
    expect(received).toBe('last');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('sets no timer for a socket that is destroyed before its last data was sent, or was before', async () => {
    const { socket } = await connected();
    lingeringClose(socket);
    await once(socket.destroy(), 'close');
    lingeringClose(socket);
    await nextTurn();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('destroys the socket after 30 seconds while bytes of the client wait to be read', async () => {
    const { socket, client } = await connected();
    lingeringClose(socket);
    await once(client, 'end');
    socket.pause();
    client.write('x');
    await until(() => socket.readableLength === 1);
    await pass(29_999);
    expect(socket.destroyed).toBe(false);
    await pass(1);
    expect(socket.destroyed).toBe(true);
  });
});
