/** The listening sockets of a server: one owner of a port, the limit of connections, and what a stopped server leaves. */

import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createServer, type HttpServer } from '../../../src/adapters/http/index.ts';
import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import { Connection } from '../../support/connection.ts';

const GET = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

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
  await vi.waitFor(async () => {
    await sleep(10);
    collectGarbage();
    expect(stopped.filter((server) => server.deref() !== undefined).length).toBeLessThan(2);
    expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before + 1);
  }, 5000);
});
