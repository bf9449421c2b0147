/** The open connections of a server of Node.js. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { Connections } from '../../../src/adapters/http/node/connections.ts';
import { collectGarbage } from '../../support/garbage.ts';
import { listen, openSockets } from '../../support/sockets.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

async function start() {
  const inProgress: ServerResponse[] = [];
  const connections = new Connections();
  let ignored = 0;
  const server = createServer((req, res) => {
    if (connections.accepts(req, res)) inProgress.push(res);
    else ignored += 1;
  });
  server.on('connection', (socket: Socket) => connections.add(socket));
  await listen(server);
  const open = async () => {
    const pair = await openSockets(server);
    pair.client.resume();
    return pair;
  };
  async function respond(): Promise<void> {
    for (const res of inProgress.splice(0)) {
      const finished = once(res, 'finish');
      res.end();
      await finished;
    }
  }
  return { connections, open, respond, inProgress, ignored: () => ignored };
}

test('a connection is known until its socket is closed', async () => {
  const { connections, open } = await start();
  const { socket, client } = await open();
  expect(connections.get(socket)?.socket).toBe(socket);
  client.destroy();
  await once(socket, 'close');
  expect(connections.get(socket)).toBeUndefined();
});

test('a request of a socket that is not known is ignored', () => {
  expect(new Connections().accepts({ socket: {} } as IncomingMessage, {} as ServerResponse)).toBe(false);
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

test('after a full pipeline, no client makes the server parse thousands of requests at once', async () => {
  const { open, respond, inProgress, ignored } = await start();
  const early = await open();
  const first = await open();
  first.client.write(GET.repeat(16));
  await vi.waitUntil(() => inProgress.length === 16);
  for (const { client } of [early, await open()]) {
    client.write(GET.repeat(2000));
    await vi.waitUntil(() => inProgress.length === 32);
    await nextTurn();
    expect(ignored()).toBeLessThan(20);
    inProgress.splice(16, 16);
  }
  await respond();
});

test('what is discarded after the last response keeps the connection open no longer than its client sends', async () => {
  const { open, respond, inProgress } = await start();
  const { client, socket } = await open();
  client.write(GET.repeat(20_000));
  await vi.waitUntil(() => inProgress.length === 16);
  await respond();
  await expect.poll(() => client.readableEnded).toBe(true);
  expect(client.errored).toBe(null);
  await expect.poll(() => socket.destroyed, { timeout: 20_000 }).toBe(true);
});
