/** The open connections of a server of Node.js. The test controls the clock and the turns of the event loop. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Connection } from '../../../src/adapters/http/node/connection.ts';
import { Connections } from '../../../src/adapters/http/node/connections.ts';
import { listen, openSockets, type SocketPair } from '../../support/sockets.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const FLOOD_TIME = 60_000;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

async function start() {
  const inProgress: ServerResponse[] = [];
  const connections = new Connections(async (_req: IncomingMessage, res: ServerResponse) => {
    inProgress.push(res);
  });
  const server = createServer((req, res) => connections.take(req, res));
  server.on('connection', (socket: Socket) => connections.add(socket));
  await listen(server);
  const open = async () => {
    const pair = await openSockets(server);
    pair.client.resume();
    return pair;
  };
  /** Finishes the responses to all requests in progress. */
  async function respond(): Promise<void> {
    for (const res of inProgress.splice(0)) {
      const finished = once(res, 'finish');
      res.end();
      await finished;
    }
  }
  return { connections, open, respond, inProgress };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setImmediate', 'performance'] });
  return () => {
    vi.useRealTimers();
  };
});

test('a connection is known until its socket is closed', async () => {
  const { connections, open } = await start();
  const { socket, client } = await open();
  expect(connections.get(socket)?.socket).toBe(socket);
  client.destroy();
  await once(socket, 'close');
  expect(connections.get(socket)).toBeUndefined();
});

test('a request of a socket that is not known is ignored', () => {
  const handle = vi.fn();
  new Connections(handle).take({ socket: {} } as IncomingMessage, {} as ServerResponse);
  expect(handle).not.toHaveBeenCalled();
});

test('an idle connection keeps none of its requests and responses in memory', async () => {
  const { open, respond, inProgress } = await start();
  const { client, socket } = await open();
  client.write(GET.repeat(3));
  await vi.waitUntil(() => inProgress.length === 3);
  const kept = inProgress.flatMap((res) => [new WeakRef<object>(res), new WeakRef<object>(res.req)]);
  await respond();
  await vi.waitUntil(() => {
    collectGarbage();
    return kept.every((reference) => reference.deref() === undefined);
  });
  expect(socket.destroyed).toBe(false);
});

describe('after a flood of requests', () => {
  /** Whether the bytes of a connection are parsed in slices, so that most bytes of a long request are held. */
  async function isSliced(connections: Connections, { socket, send }: SocketPair): Promise<boolean> {
    await send(GET.replace('x', `x\r\nX: ${'x'.repeat(1000)}`));
    return connections.get(socket)?.isHolding === true;
  }

  test('open connections and the new ones of the next minute are parsed in slices', async () => {
    const { connections, open } = await start();
    const before = await open();
    const other = await open();
    expect(await isSliced(connections, other)).toBe(false);
    const early = await open();
    connections.onFlood();
    expect(await isSliced(connections, before)).toBe(true);
    expect(await isSliced(connections, early)).toBe(true);
    vi.advanceTimersByTime(FLOOD_TIME - 1);
    expect(await isSliced(connections, await open())).toBe(true);
    vi.advanceTimersByTime(1);
    expect(await isSliced(connections, await open())).toBe(false);
  });

  test('the minute begins again with each flood, also after it has ended', async () => {
    const { connections, open } = await start();
    connections.onFlood();
    vi.advanceTimersByTime(FLOOD_TIME - 1);
    connections.onFlood();
    vi.advanceTimersByTime(FLOOD_TIME - 1);
    expect(await isSliced(connections, await open())).toBe(true);
    vi.advanceTimersByTime(1);
    const later = await open();
    connections.onFlood();
    expect(await isSliced(connections, later)).toBe(true);
  });

  test('two connections continue their work per turn, in the order of their calls', () => {
    const connections = new Connections(async () => {});
    const continued: number[] = [];
    const numbered = (number: number, goOn = () => {}) =>
      ({
        goOn() {
          continued.push(number);
          goOn();
        },
      }) as unknown as Connection;
    const again = numbered(0, () => {
      if (continued.length === 1) connections.whenFree(again);
    });
    for (const connection of [again, numbered(1), numbered(2)]) connections.whenFree(connection);
    expect(continued).toEqual([]);
    vi.advanceTimersToNextTimer();
    expect(continued).toEqual([0, 1]);
    vi.advanceTimersToNextTimer();
    expect(continued).toEqual([0, 1, 2, 0]);
    expect(vi.getTimerCount()).toBe(0);
    connections.whenFree(numbered(3));
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersToNextTimer();
    expect(continued).toEqual([0, 1, 2, 0, 3]);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('after a stop', () => {
  /** Expects that the server ends its side, and that the client receives this. */
  async function expectEnd({ client, socket }: SocketPair): Promise<void> {
    expect(socket.writableEnded).toBe(true);
    await expect.poll(() => client.readableEnded).toBe(true);
  }

  test('idle connections stay open for 1 second', async () => {
    const { connections, open } = await start();
    const idle = await open();
    connections.closeIdle();
    vi.advanceTimersByTime(5000);
    connections.closeIdle();
    connections.stop();
    vi.advanceTimersByTime(999);
    connections.closeIdle();
    expect(idle.socket.writableEnded).toBe(false);
    vi.advanceTimersByTime(1);
    connections.closeIdle();
    await expectEnd(idle);
  });

  test('busy connections stay open until their response', async () => {
    const { connections, open, respond } = await start();
    const busy = await open();
    await busy.send(GET);
    connections.stop();
    expect(connections.get(busy.socket)?.isClosing).toBe(true);
    vi.advanceTimersByTime(1000);
    connections.closeIdle();
    expect(busy.socket.writableEnded).toBe(false);
    await respond();
    await expectEnd(busy);
  });

  test('an idle connection is closed after its next response', async () => {
    const { connections, open, respond } = await start();
    const idle = await open();
    await idle.send(GET);
    await respond();
    connections.stop();
    expect(connections.get(idle.socket)?.isClosing).toBe(false);
    await idle.send(GET);
    expect(idle.socket.writableEnded).toBe(false);
    await respond();
    await expectEnd(idle);
  });

  test('`destroy` closes all connections', async () => {
    const { connections, open } = await start();
    const [busy, idle] = [await open(), await open()];
    await busy.send(GET);
    connections.destroy();
    for (const { client, socket } of [busy, idle]) {
      expect(socket.destroyed).toBe(true);
      await expect.poll(() => client.readableEnded).toBe(true);
    }
  });
});
