/** The listening sockets of a server: one owner of a port, the limit of connections, and what a stopped server leaves. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newSharedLimits } from '../../../src/adapters/http/api/shared-limits.ts';
import { createServer, type HttpServer } from '../../../src/adapters/http/index.ts';
import { Listeners, lockPort } from '../../../src/adapters/http/node/listeners.ts';
import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import { Connection } from '../../support/connection.ts';
import { collectGarbage } from '../../support/garbage.ts';
import { startNodeServer } from '../../support/node-server.ts';

const GET = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';

function newServer(options = {}): HttpServer {
  const server = createServer(new AnimalStore(openMemoryStorage()), options);
  onTestFinished(() => server.stop(0));
  return server;
}

test('of servers that start to listen on one port at the same moment, one serves and the others fail', async () => {
  const port = Number(new URL(await usedPort()).port);
  const results = await Promise.allSettled([1, 2, 3].map(() => newServer().listen(port, '127.0.0.1')));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'EADDRINUSE', port });
  }
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
});

/** Returns a URL whose port was free a moment ago. */
async function usedPort(): Promise<string> {
  const server = newServer();
  const url = await server.listen(0, '127.0.0.1');
  await server.stop(0);
  return url;
}

test('connections of all listening sockets count towards the limit', async () => {
  const origin = await newServer({ maxConnections: 5 }).listen(0, '127.0.0.1');
  const connections = await Promise.all(Array.from({ length: 60 }, () => Connection.open(origin)));
  for (const connection of connections) connection.write(GET);
  const answers = await Promise.allSettled(connections.map((connection) => connection.next()));
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  for (const connection of connections) connection.destroy();
});

test('a slow head is refused on every listening socket', async () => {
  const origin = await newServer({ headersTimeout: 50 }).listen(0, '127.0.0.1');
  const connections = await Promise.all(Array.from({ length: 40 }, () => Connection.open(origin)));
  for (const connection of connections) connection.write('GET /livez HTTP/1.1\r\n');
  const answers = await Promise.all(connections.map((connection) => connection.next()));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([408]));
});

test('a server that cannot listen can try again, and an error of a listening socket does not end the process', async () => {
  const port = Number(new URL(await newServer().listen(0, '127.0.0.1')).port);
  const server = createHttpServer();
  const listeners = new Listeners(server, Infinity);
  for (let count = 0; count < 2; count += 1) {
    await expect(listeners.listen(port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE', port });
  }
  expect(server.listenerCount('error')).toBe(1);
  expect(server.emit('error', new Error('accept EMFILE'))).toBe(true);
});

describe.skipIf(process.platform !== 'linux')('on Linux', () => {
  function socketsOn(port: number): number {
    const address = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
    const isListening = (line: string) => {
      const [, local, , state] = line.trim().split(/\s+/);
      return local === address && state === '0A';
    };
    return lines.filter(isListening).length;
  }

  test.each([
    [16, {}],
    [16, { maxConnections: 1000 }],
    [2, { maxConnections: 9 }],
    [1, { maxConnections: 8 }],
    [6, { thread: { index: 0, count: 3, memory: newSharedLimits(3) } }],
  ])(
    'a server has %i listening sockets, on a free port and on a given one: %o',
    async (expected, options) => {
      for (const port of [0, 0, Number(new URL(await usedPort()).port)]) {
        const origin = await newServer(options).listen(port, '127.0.0.1');
        expect(socketsOn(Number(new URL(origin).port))).toBe(expected);
      }
    },
  );

  test('a client that has ended its side gets all its responses on every listening socket', async () => {
    const { origin } = await startNodeServer(async (req, res) => {
      await once(req.socket, 'end');
      res.end();
    });
    const responses = Array.from({ length: 40 }, async () => {
      const socket = connect({ port: Number(new URL(origin).port), host: '127.0.0.1', allowHalfOpen: true });
      socket.end(`${GET}CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n`);
      return (await text(socket)).match(/^HTTP\/1\.1 \d+/gm);
    });
    for (const statuses of await Promise.all(responses)) {
      expect(statuses).toEqual(['HTTP/1.1 200', 'HTTP/1.1 405']);
    }
  });

  test('a port is locked until its server has stopped', async () => {
    const server = newServer();
    const port = Number(new URL(await server.listen(0, '127.0.0.1')).port);
    expect(await lockPort(port, '127.0.0.1')).toBeUndefined();
    await server.stop(0);
    const lock = (await lockPort(port, '127.0.0.1')) as Server;
    expect(await lockPort(port, '127.0.0.1')).toBeUndefined();
    const client = connect(`\0animal-store/${port}/127.0.0.1`);
    await once(client.resume(), 'close');
    await once(lock.close(), 'close');
  });
});

test('listeners that are closed leave no timer of `node:http`', async () => {
  const listenAndClose = async () => {
    const server = createHttpServer();
    const listeners = new Listeners(server, Infinity);
    await listeners.listen(0, '127.0.0.1');
    await listeners.close();
    return new WeakRef(server);
  };
  const closed = await listenAndClose();
  const isCollected = () => {
    collectGarbage();
    return closed.deref() === undefined;
  };
  await expect.poll(isCollected).toBe(true);
});

test('a stopped server leaves no handle and no memory', async () => {
  const before = process.getActiveResourcesInfo().length;
  const stopped: WeakRef<HttpServer>[] = [];
  for (let count = 0; count < 10; count++) {
    const server = createServer(new AnimalStore(openMemoryStorage()));
    const origin = await server.listen(0, '127.0.0.1');
    const connection = await Connection.open(origin);
    connection.write(GET);
    expect((await connection.next()).status).toBe(200);
    connection.destroy();
    await server.stop(100);
    stopped.push(new WeakRef(server));
  }
  const isFree = () => {
    collectGarbage();
    const left = stopped.filter((server) => server.deref() !== undefined).length;
    return left < 2 && process.getActiveResourcesInfo().length <= before + 1;
  };
  await expect.poll(isFree).toBe(true);
});
