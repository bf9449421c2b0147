import { expect, test } from 'vitest';
import type { Context } from '../../../src/adapters/http/api/context.ts';
import { readJson } from '../../../src/adapters/http/api/json-body.ts';
import { Connection } from '../../support/connection.ts';
import { pipelineOf } from '../../support/pipeline.ts';
import { startServer } from '../../support/server.ts';

const BYTES = Buffer.from('1');

/** Returns a function that reads a body, of which only `limit` may arrive at the same time. */
function reader(limit: number): (body: Promise<Uint8Array>) => Promise<unknown> {
  let next: Promise<Uint8Array>;
  const stage = readJson(() => next, JSON.parse, 1000 / limit);
  return async (body) => {
    next = body;
    const ctx = { headers: { 'content-type': 'application/json' }, request: {} } as unknown as Context;
    await stage(ctx, async () => {});
    return ctx.request.body;
  };
}

test('beyond the limit, the oldest incomplete body is given up', async () => {
  const read = reader(2);
  const first = Promise.withResolvers<Uint8Array>();
  const stalled = [first, Promise.withResolvers<Uint8Array>()];
  const received = stalled.map(({ promise }) => read(promise));
  const newest = read(Promise.resolve(BYTES));
  await expect(received[0]).rejects.toMatchObject({ code: 'request_timeout' });
  expect(await newest).toBe(1);
  stalled[1]?.resolve(BYTES);
  expect(await received[1]).toBe(1);
  // A body that was given up can still fail, when its connection is closed.
  first.reject(new Error('closed'));
});

test('complete bodies and failed bodies make room', async () => {
  const read = reader(1);
  expect(await read(Promise.resolve(BYTES))).toBe(1);
  await expect(read(Promise.reject(new RangeError()))).rejects.toThrow(RangeError);
  const stalled = Promise.withResolvers<Uint8Array>();
  const received = read(stalled.promise);
  stalled.resolve(BYTES);
  expect(await received).toBe(1);
});

test('an incomplete body is not given up because of bodies that are complete', async () => {
  const read = reader(2);
  const slow = Promise.withResolvers<Uint8Array>();
  const received = read(slow.promise);
  for (let count = 0; count < 3; count += 1) expect(await read(Promise.resolve(BYTES))).toBe(1);
  slow.resolve(BYTES);
  expect(await received).toBe(1);
});

test('1,001 stalled creates: the oldest gets 408, and a new create is stored', async () => {
  const { origin, client, key } = await startServer('memory');
  const open = async () => {
    const connection = await Connection.open(origin);
    connection.write(pipelineOf(key).create('Rex').slice(0, -5));
    return connection;
  };
  const oldest = await open();
  const others: Connection[] = [];
  while (others.length < 1000) others.push(...(await Promise.all(Array.from({ length: 100 }, open))));
  const { status, body } = await oldest.next();
  expect([status, JSON.parse(body).code]).toEqual([408, 'request_timeout']);
  expect((await client.post({ name: 'Max', categoryId: 1 })).status).toBe(201);
  for (const connection of others) connection.destroy();
});

test('a client of HTTP/1.0 that expects 100 gets no interim response', async () => {
  const { origin, key } = await startServer('memory');
  const connection = await Connection.open(origin);
  const create = pipelineOf(key).create('Rex').replace('HTTP/1.1', 'HTTP/1.0');
  connection.write(create.replace('Host: x', 'Host: x\r\nExpect: 100-continue'));
  expect((await connection.next()).status).toBe(201);
  expect(connection.interim).toEqual([]);
  connection.destroy();
});
