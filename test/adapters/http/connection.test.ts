/**
 * Connections of a server of Node.js. The test decides when a request gets its response, and when a connection
 * continues its work.
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Connection } from '../../../src/adapters/http/node/connection.ts';
import { listen, openSockets, type SocketPair } from '../../support/sockets.ts';

/** Requests of 64 bytes each, so that a slice of 512 bytes has 8 requests. */
const SIZE = 64;
const get = (number: number) => {
  const start = `GET /${number} HTTP/1.1\r\nHost: x\r\nX: `;
  return `${start}${'x'.repeat(SIZE - start.length - 4)}\r\n\r\n`;
};
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
const gets = (from: number, to: number) => range(from, to).map(get).join('');
const targets = (from: number, to: number) => range(from, to).map((number) => `/${number}`);

interface Harness extends SocketPair {
  readonly connection: Connection;
  /** The targets of the requests that were passed to the handler. */
  readonly handled: readonly string[];
  /** The targets whose responses the client has received. */
  readonly received: readonly string[];
  readonly floods: () => number;
  /** How often the connection has asked to continue its work since the last call of `goOn`. */
  readonly scheduled: () => number;
  /** Finishes the responses to the oldest requests in progress. */
  respond(count: number): Promise<void>;
  /** Lets the connection continue its work. */
  goOn(): void;
}

async function open(isLast = false): Promise<Harness> {
  const handled: string[] = [];
  const inProgress: ServerResponse[] = [];
  let floods = 0;
  let scheduled = 0;
  const opened: Connection[] = [];
  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    handled.push(req.url ?? '');
    inProgress.push(res.setHeader('X-Target', req.url ?? ''));
  };
  const turns = {
    onFlood: () => {
      floods += 1;
    },
    whenFree: () => {
      scheduled += 1;
    },
  };
  const server = createServer((req, res) => opened[0]?.take(req, res, isLast));
  server.prependListener('connection', (socket: Socket) => {
    opened.push(new Connection(socket, handle, turns));
  });
  await listen(server);
  const { client, socket, send } = await openSockets(server);
  const connection = opened[0] as Connection;
  const received: string[] = [];
  client.setEncoding('latin1').on('data', (text: string) => {
    for (const [, target = ''] of text.matchAll(/X-Target: (\S+)/g)) received.push(target);
  });
  return {
    connection,
    socket,
    client,
    handled,
    received,
    floods: () => floods,
    scheduled: () => scheduled,
    send,
    async respond(count) {
      for (const res of inProgress.splice(0, count)) {
        const finished = once(res, 'finish');
        res.end();
        await finished;
      }
    },
    goOn() {
      scheduled = 0;
      connection.goOn();
    },
  };
}

describe('a connection', () => {
  test('handles 16 requests at the same time, and queues the others', async () => {
    const { send, respond, goOn, handled, floods, scheduled } = await open();
    await send(gets(0, 16));
    expect(floods()).toBe(0);
    await send(gets(16, 20));
    expect(handled).toEqual(targets(0, 16));
    expect(floods()).toBe(4);
    expect(scheduled()).toBe(0);
    await respond(2);
    expect(handled).toHaveLength(16);
    expect(scheduled()).toBe(1);
    goOn();
    expect(handled).toEqual(targets(0, 18));
    await respond(2);
    expect(scheduled()).toBe(1);
    goOn();
    expect(handled).toEqual(targets(0, 20));
    await respond(16);
    expect(scheduled()).toBe(0);
  });

  test('counts from the start when it is idle', async () => {
    const { send, respond, handled, floods } = await open();
    for (const from of [0, 20, 40]) {
      await send(gets(from, from + 1));
      await respond(1);
      await send(gets(from + 1, from + 17));
      expect(handled.slice(-16)).toEqual(targets(from + 1, from + 17));
      await respond(16);
    }
    expect(floods()).toBe(0);
  });

  test('continues nothing after its socket was destroyed', async () => {
    const { send, respond, goOn, handled, socket } = await open();
    await send(gets(0, 20));
    await respond(2);
    socket.destroy();
    goOn();
    expect(handled).toHaveLength(16);
  });

  test('is idle when all responses were sent', async () => {
    const { send, respond, connection } = await open();
    expect(connection.isIdle).toBe(true);
    await send(gets(0, 2));
    expect(connection.isIdle).toBe(false);
    await respond(1);
    expect(connection.isIdle).toBe(false);
    await respond(1);
    await expect.poll(() => connection.isIdle).toBe(true);
  });

  test('is closed once, however often it is told to', async () => {
    const { connection, socket, client } = await open();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const ended = once(client.resume(), 'end');
    socket.destroySoon();
    expect(connection.isClosing).toBe(true);
    await ended;
    const timers = vi.getTimerCount();
    socket.destroySoon();
    await nextTurn();
    expect(vi.getTimerCount()).toBe(timers);
  });

  test('knows the two newest responses, but not one that was finished before the newest request', async () => {
    const { send, respond, connection } = await open();
    expect(connection.newest).toBeUndefined();
    await send(gets(0, 1));
    const first = connection.newest;
    expect(connection.beforeNewest).toBeUndefined();
    await send(gets(1, 2));
    expect(connection.beforeNewest).toBe(first);
    await respond(2);
    await send(gets(2, 3));
    expect(connection.newest?.req.url).toBe('/2');
    expect(connection.beforeNewest).toBeUndefined();
  });

  test('ignores requests after its last response', async () => {
    const { send, respond, connection, handled, received, client } = await open(true);
    await send(gets(0, 2));
    expect(connection.isClosing).toBe(true);
    await send(gets(2, 3));
    expect(handled).toEqual(['/0']);
    const ended = once(client, 'end');
    await respond(1);
    await ended;
    expect(received).toEqual(['/0']);
  });

  test('is closed after its newest response, unless the head of this response was sent', async () => {
    const { send, respond, connection, client, received } = await open();
    connection.closeAfterNewest();
    expect(connection.isClosing).toBe(false);
    await send(gets(0, 1));
    await respond(1);
    connection.closeAfterNewest();
    expect(connection.isClosing).toBe(false);
    await send(gets(1, 3));
    connection.closeAfterNewest();
    expect(connection.isClosing).toBe(true);
    const ended = once(client, 'end');
    await respond(2);
    await ended;
    expect(received).toEqual(targets(0, 3));
  });
});

describe('a connection that splits chunks into slices', () => {
  test('passes 512 bytes at once to the parser, and is paused until it has passed the last slice', async () => {
    const { connection, socket, send, respond, goOn, handled, scheduled, floods } = await open();
    connection.slice();
    await send(gets(0, 20));
    expect(handled).toEqual([]);
    expect([connection.isHolding, socket.isPaused(), scheduled()]).toEqual([true, true, 1]);
    goOn();
    expect(handled).toEqual(targets(0, 8));
    expect([connection.isHolding, socket.isPaused(), scheduled()]).toEqual([true, true, 1]);
    goOn();
    expect(handled).toEqual(targets(0, 16));
    // Without room for a request, the connection asks for nothing until a response is finished.
    expect([connection.isHolding, socket.isPaused(), scheduled()]).toEqual([true, true, 0]);
    goOn();
    expect(handled).toHaveLength(16);
    await respond(2);
    expect(scheduled()).toBe(1);
    goOn();
    expect(handled).toEqual(targets(0, 18));
    expect([connection.isHolding, socket.isPaused(), floods()]).toEqual([false, false, 2]);
    await respond(2);
    goOn();
    expect(handled).toEqual(targets(0, 20));
  });

  test('passes a chunk of 512 bytes at once, but not one with a byte more', async () => {
    const { connection, send, goOn, handled } = await open();
    connection.slice();
    connection.slice();
    await send(gets(0, 8));
    expect(handled).toEqual(targets(0, 8));
    expect(connection.isHolding).toBe(false);
    const [first, second] = [get(8), get(9)];
    await send(gets(8, 16) + second.slice(0, 1));
    expect(first).toHaveLength(SIZE);
    expect(connection.isHolding).toBe(true);
    goOn();
    expect(handled).toEqual(targets(0, 16));
  });

  test('holds a small chunk while 16 requests are in progress', async () => {
    const { connection, send, respond, goOn, handled, floods } = await open();
    connection.slice();
    await send(gets(0, 8));
    await send(gets(8, 16));
    await send(gets(16, 17));
    expect(connection.isHolding).toBe(true);
    await respond(1);
    goOn();
    expect(handled).toEqual(targets(0, 17));
    expect(floods()).toBe(0);
  });

  test('keeps the order of its requests while bytes are held or requests are queued', async () => {
    const { connection, socket, send, respond, goOn, handled } = await open();
    await send(gets(0, 17));
    connection.slice();
    await respond(2);
    await send(gets(17, 18));
    expect(handled).toEqual(targets(0, 16));
    socket.emit('data', Buffer.from(gets(18, 19)));
    expect(handled).toEqual(targets(0, 16));
    goOn();
    expect(handled).toEqual(targets(0, 18));
    await respond(5);
    goOn();
    expect(handled).toEqual(targets(0, 19));
  });

  test('holds a small chunk that arrives after held bytes', async () => {
    const { connection, socket, send, goOn, handled } = await open();
    connection.slice();
    await send(gets(0, 10));
    socket.emit('data', Buffer.from(gets(10, 11)));
    expect(handled).toEqual([]);
    goOn();
    goOn();
    expect(handled).toEqual(targets(0, 11));
  });

  test('does not ask to continue when its socket is resumed without held bytes', async () => {
    const { connection, socket, scheduled } = await open();
    connection.slice();
    socket.pause();
    socket.resume();
    await nextTurn();
    expect(scheduled()).toBe(0);
  });

  test('passes the end of the client to the parser after all held bytes', async () => {
    const { connection, socket, client, send, respond, goOn, handled, received } = await open();
    connection.slice();
    await send(gets(0, 12));
    const ended = once(socket, 'end');
    client.end();
    await ended;
    goOn();
    await respond(8);
    expect(handled).toEqual(targets(0, 8));
    expect(client.readableEnded).toBe(false);
    const closed = once(client, 'end');
    goOn();
    expect(handled).toEqual(targets(0, 12));
    await closed;
    expect(received).toEqual(targets(0, 8));
  });

  test('passes the end of the client to the parser at once when no bytes are held', async () => {
    const { connection, client, send, respond, received } = await open();
    connection.slice();
    await send(gets(0, 1));
    await respond(1);
    client.end();
    await once(client, 'end');
    expect(received).toEqual(['/0']);
  });

  test('reads nothing while Node.js has paused the socket', async () => {
    const { connection, socket, send, goOn, handled, scheduled } = await open();
    connection.slice();
    await send(gets(0, 1));
    socket.pause();
    socket.emit('data', Buffer.from(gets(1, 10)));
    expect(connection.isHolding).toBe(true);
    goOn();
    expect(handled).toEqual(['/0']);
    socket.resume();
    await expect.poll(scheduled).toBe(1);
    goOn();
    expect(handled).toEqual(targets(0, 9));
  });

  test('discards the held bytes after its last response', async () => {
    const { connection, client, send, respond, goOn, handled } = await open(true);
    connection.slice();
    await send(gets(0, 20));
    goOn();
    expect(handled).toEqual(['/0']);
    expect(connection.isHolding).toBe(true);
    const ended = once(client, 'end');
    await respond(1);
    await ended;
    expect(connection.isHolding).toBe(false);
    goOn();
    expect(handled).toEqual(['/0']);
  });
});
