/** Crowds of requests and of connections to a server in the process of the test, on each storage. */

import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Connection } from '../support/connection.ts';
import { gate } from '../support/gate.ts';
import { numbers, pipelineOf } from '../support/pipeline.ts';
import { STORAGES, sharedServer, startServer } from '../support/server.ts';

const PIPELINE = 1500;

/** 125 connections with 16 creates each have 2,000 creates in progress, which is the limit. */
const CONNECTIONS = 125;
const PER_CONNECTION = 16;

/** The bytes at whose end a connection is reset. */
const STARTS: readonly (readonly [name: string, bytes: string])[] = [
  ['after CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n'],
  ['in CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHo'],
  ['after an upgrade', 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
  ['after garbage', 'garbage\r\n\r\n'],
];

describe.each(STORAGES)('one pipeline, on %s', (storage) => {
  const server = sharedServer(storage);

  test(`${PIPELINE} GET requests get their responses in order`, async () => {
    const { get } = pipelineOf(server.key);
    const connection = await Connection.open(server.origin);
    connection.write(
      numbers(PIPELINE)
        .map((number) => get(number % 2 === 0 ? '/v1/pets/0' : '/v1/pets?limit=0'))
        .join(''),
    );
    const statuses: number[] = [];
    for (const _ of numbers(PIPELINE)) statuses.push((await connection.next()).status);
    expect(statuses).toEqual(numbers(PIPELINE).map((number) => (number % 2 === 0 ? 404 : 400)));
    connection.destroy();
  });

  test(`${PIPELINE} creates get their responses in order, and each pet has its own id`, async () => {
    const { create } = pipelineOf(server.key);
    const connection = await Connection.open(server.origin);
    const names = numbers(PIPELINE).map((number) => `pet ${number}`);
    connection.write(names.map(create).join(''));
    const created: { id: number; name: string }[] = [];
    for (const _ of names) created.push(JSON.parse((await connection.next()).body));
    expect(created.map(({ name }) => name)).toEqual(names);
    expect(new Set(created.map(({ id }) => id)).size).toBe(PIPELINE);
    connection.destroy();
  });

  test('requests are separated correctly wherever a read ends', async () => {
    const { get, create } = pipelineOf(server.key);
    const flood = await Connection.open(server.origin);
    flood.write(get('/livez').repeat(200));
    for (const _ of numbers(200)) expect((await flood.next()).status).toBe(200);
    const bytes = Buffer.from((create('Rex') + get('/v1/pets?limit=1')).repeat(40));
    for (const size of [7, 100, 1000, 1024, 1025, 5000, bytes.length]) {
      for (const connection of [flood, await Connection.open(server.origin)]) {
        await connection.writeInPieces(bytes, size);
        for (const _ of numbers(40)) {
          expect((await connection.next()).status).toBe(201);
          expect((await connection.next()).status).toBe(200);
        }
      }
    }
    expect(server.errors).toEqual([]);
  });
});

describe.each(STORAGES)('2,000 creates in progress, on %s', (storage) => {
  test('a further create is refused, reads are served, and a stop completes all creates', async () => {
    const { wrap, open, waiting } = gate();
    const { server, client, key, origin, errors } = await startServer(storage, { wrap });
    const { create } = pipelineOf(key);
    const connections = await Promise.all(numbers(CONNECTIONS).map(() => Connection.open(origin)));
    for (const connection of connections) connection.write(create('Rex').repeat(PER_CONNECTION));
    await expect.poll(waiting).toBe(CONNECTIONS * PER_CONNECTION);

    const refused = await Connection.open(origin);
    refused.write(create('Rex').repeat(2));
    expect(await refused.next()).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(errors[0]).toMatchObject({ code: 'overloaded' });
    expect((await client.get('/v1/pets')).status).toBe(200);
    expect((await client.get('/readyz')).status).toBe(200);

    const stopped = server.stop(60_000);
    expect((await refused.next()).status).toBe(503);
    open();
    const statuses = (await Promise.all(connections.map((connection) => connection.rest())))
      .flat()
      .map(({ status }) => status);
    expect(statuses).toEqual(Array.from({ length: CONNECTIONS * PER_CONNECTION }, () => 201));
    refused.destroy();
    await stopped;
  });
});

test('a server responds on 100 connections that clients open at the moment of its stop', async () => {
  const { server, origin } = await startServer('memory');
  const opening = numbers(100).map(() => Connection.open(origin));
  const stopped = server.stop(60_000);
  const answers = opening.map(async (each) => {
    const connection = await each;
    connection.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    return (await connection.next()).status;
  });
  expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
  await stopped;
});

test.each(STARTS)(
  'connections that are reset at any time %s do not affect the server',
  async (_name, bytes) => {
    const { server, client, origin, errors } = await startServer('memory');
    for (const delay of [0, 0, 1, 5, 20, 50]) {
      const socket = connect(Number(new URL(origin).port), '127.0.0.1');
      socket.on('error', () => {});
      await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
      await sleep(delay);
      socket.resetAndDestroy();
    }
    await expect.poll(() => server.statistics().connections).toBe(0);
    expect((await client.get('/livez')).status).toBe(200);
    expect(errors).toEqual([]);
  },
);
