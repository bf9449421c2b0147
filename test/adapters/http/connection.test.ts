/** Connections of a server of Node.js. The test decides when a request gets its response. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Connection } from '../../../src/adapters/http/node/connection.ts';
import { sliceTurns } from '../../../src/adapters/http/node/slice-turns.ts';
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
  /** The responses to these requests that the test has not finished. */
  readonly inProgress: readonly ServerResponse[];
  /** The targets whose responses the client has received. */
  readonly received: readonly string[];
  readonly floods: () => number;
  /** Finishes the responses to the oldest requests in progress, and lets the connection continue its work. */
  respond(count: number): Promise<void>;
}

async function open(isLast = false): Promise<Harness> {
  const handled: string[] = [];
  const inProgress: ServerResponse[] = [];
  let floods = 0;
  const opened: Connection[] = [];
  const handle = async (req: IncomingMessage, res: ServerResponse) => {
    handled.push(req.url ?? '');
    inProgress.push(res.setHeader('X-Target', req.url ?? ''));
  };
  const onFlood = () => {
    floods += 1;
  };
  const server = createServer((req, res) => opened[0]?.acceptRequest(req, res, isLast));
  server.prependListener('connection', (socket: Socket) => {
    opened.push(new Connection(socket, handle, sliceTurns(), onFlood));
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
    inProgress,
    received,
    floods: () => floods,
    send,
    async respond(count) {
      for (const res of inProgress.splice(0, count)) {
        const finished = once(res, 'finish');
        res.end();
        await finished;
      }
      // The connection parses its next slice in a later iteration of the event loop.
      for (let turns = 0; turns < 3; turns += 1) await nextTurn();
    },
  };
}

describe('a connection', () => {
  test('handles 16 requests at the same time, and queues the others', async () => {
    const { send, respond, handled, floods } = await open();
    await send(gets(0, 16));
    expect(floods()).toBe(0);
    await send(gets(16, 20));
    expect(handled).toEqual(targets(0, 16));
    expect(floods()).toBe(4);
    await respond(2);
    expect(handled).toEqual(targets(0, 18));
    await respond(2);
    expect(handled).toEqual(targets(0, 20));
    await send(gets(20, 21));
    expect(handled).toHaveLength(20);
    await respond(2);
    expect(handled).toEqual(targets(0, 21));
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

  test('is idle when all responses were sent', async () => {
    const { send, respond, connection } = await open();
    expect(connection.isIdle).toBe(true);
    await send(gets(0, 2));
    expect(connection.isIdle).toBe(false);
    await respond(1);
    expect(connection.isIdle).toBe(false);
    await respond(1);
    expect(connection.isIdle).toBe(true);
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

  test('ignores requests after a response that closes the connection', async () => {
    const { send, respond, inProgress, handled, received, client } = await open();
    await send(gets(0, 2));
    const last = inProgress.at(-1);
    if (last !== undefined) last.shouldKeepAlive = false;
    await send(gets(2, 3));
    expect(handled).toEqual(targets(0, 2));
    const ended = once(client, 'end');
    await respond(2);
    await ended;
    expect(received).toEqual(targets(0, 2));
  });

  test('is closed after a request with Connection: close', async () => {
    const { send, connection } = await open();
    await send('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(connection.isClosing).toBe(true);
  });

  test.each([
    [17, 0],
    [18, 1],
  ])('reports a flood of requests after its last response: %i requests', async (count, expected) => {
    const { send, floods } = await open(true);
    await send(gets(0, count));
    expect(floods()).toBe(expected);
  });

  test('stops parsing after the first request that it ignores', async () => {
    const { connection, client, send, respond, handled, received } = await open(true);
    await send(gets(0, 2));
    await send(gets(2, 40));
    expect([handled, connection.isHolding]).toEqual([['/0'], true]);
    const ended = once(client, 'end');
    await respond(1);
    await ended;
    await send(gets(40, 80));
    expect([received, connection.isHolding]).toEqual([['/0'], true]);
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

describe('a connection that is parsed in slices', () => {
  test('parses 512 bytes while fewer than 16 requests are in progress', async () => {
    const { connection, send, respond, handled, floods } = await open();
    connection.input.slice();
    connection.input.slice();
    await send(get(0));
    await send(gets(1, 40));
    // The second slice is parsed because the first one, with 8 requests, has left room.
    expect(handled).toEqual(targets(0, 16));
    expect([connection.isHolding, floods()]).toEqual([true, 1]);
    await respond(1);
    expect(handled).toEqual(targets(0, 17));
    expect(floods()).toBe(1);
    await respond(1);
    expect(handled).toEqual(targets(0, 18));
    expect(floods()).toBe(1 + 7);
    await respond(16);
    expect(handled).toEqual(targets(0, 34));
    await respond(6);
    expect(handled).toEqual(targets(0, 40));
    expect(connection.isHolding).toBe(false);
  });

  test('parses no byte while 16 requests are in progress', async () => {
    const { connection, send, respond, handled, floods } = await open();
    connection.input.slice();
    await send(gets(0, 8));
    await send(gets(8, 16));
    expect(connection.isHolding).toBe(false);
    await send(gets(16, 17));
    expect(connection.isHolding).toBe(true);
    await respond(1);
    expect(handled).toEqual(targets(0, 17));
    expect(floods()).toBe(0);
  });

  test('keeps the order of its requests while requests are queued', async () => {
    const { connection, send, respond, handled } = await open();
    await send(gets(0, 18));
    connection.input.slice();
    await respond(1);
    await send(gets(18, 19));
    expect(handled).toEqual(targets(0, 17));
    await respond(5);
    expect(handled).toEqual(targets(0, 19));
  });

  test('learns of the end of the client after all requests', async () => {
    const { connection, client, send, respond, handled, received, floods } = await open();
    connection.input.slice();
    await send(gets(0, 24));
    client.end();
    await once(client, 'finish');
    expect(handled).toEqual(targets(0, 16));
    await respond(0);
    expect(client.readableEnded).toBe(false);
    const closed = once(client, 'end');
    await respond(1);
    await closed;
    // The last 8 requests were parsed, and 7 of them were queued.
    expect(handled).toEqual(targets(0, 17));
    expect(floods()).toBe(7);
    expect(received).toEqual(['/0']);
  });

  test('learns of the end of the client at once when all requests were parsed', async () => {
    const { connection, client, send, respond, received } = await open();
    connection.input.slice();
    await send(gets(0, 1));
    await respond(1);
    client.end();
    await once(client, 'end');
    expect(received).toEqual(['/0']);
  });

  test('learns of the end of the client while 16 requests are in progress', async () => {
    const { connection, client, send } = await open();
    connection.input.slice();
    await send(gets(0, 8));
    await send(gets(8, 16));
    client.end();
    await once(client, 'end');
    expect(connection.isIdle).toBe(false);
  });

  test('parses nothing while the client does not read a response', async () => {
    const { connection, client, send, inProgress, handled } = await open();
    connection.input.slice();
    client.pause();
    await send(gets(0, 1));
    inProgress[0]?.end('x'.repeat(8 * 1024 * 1024));
    await send(gets(1, 2));
    expect([handled, connection.isHolding]).toEqual([['/0'], true]);
    client.resume();
    await expect.poll(() => handled).toEqual(targets(0, 2));
  });

  test('parses nothing while a response waits for the response to an earlier request', async () => {
    const { connection, send, inProgress, handled } = await open();
    connection.input.slice();
    await send(gets(0, 2));
    inProgress[1]?.end();
    await send(gets(2, 3));
    expect([handled, connection.isHolding]).toEqual([targets(0, 2), true]);
    inProgress[0]?.end();
    await expect.poll(() => handled).toEqual(targets(0, 3));
  });

  describe('with a large request body', () => {
    const LENGTH = 300_000;
    const START = `POST /post HTTP/1.1\r\nHost: x\r\nContent-Length: ${LENGTH}\r\nX: `;
    /** The head fills a slice, and slices of the body fill the buffer of the request exactly. */
    const HEAD = `${START}${'x'.repeat(512 - START.length - 4)}\r\n\r\n`;
    const POST = HEAD + 'x'.repeat(LENGTH);

    /** Reads the body, and expects that the next requests are parsed in slices. */
    async function expectSlices({ connection, inProgress, send, respond, handled }: Harness): Promise<void> {
      const req = inProgress[0]?.req.resume();
      await expect.poll(() => req?.complete).toBe(true);
      await respond(1);
      await send(gets(0, 40));
      expect(handled).toEqual(['/post', ...targets(0, 16)]);
      expect(connection.isHolding).toBe(true);
    }

    test('parses no more than one buffer of the body before the body is read', async () => {
      const harness = await open();
      const { connection, client, inProgress } = harness;
      connection.input.slice();
      client.write(POST);
      const buffered = () => {
        const req = inProgress[0]?.req;
        return req === undefined ? -1 : req.readableLength - req.readableHighWaterMark;
      };
      await expect.poll(buffered).toBeGreaterThanOrEqual(0);
      await nextTurn();
      expect(buffered()).toBe(0);
      await expectSlices(harness);
    });

    test('begins when Node.js resumes a socket that it has paused', async () => {
      const harness = await open();
      const { connection, client, socket } = harness;
      client.write(POST);
      await expect.poll(() => socket.isPaused()).toBe(true);
      connection.input.slice();
      await expectSlices(harness);
    });
  });
});
