import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Turn } from '../../../src/adapters/http/api/turn.ts';
import type { RequestOutcome } from '../../../src/application/ports/observer.ts';
import { Connection } from '../../support/connection.ts';
import { gate } from '../../support/gate.ts';
import { STORAGES, startServer } from '../../support/server.ts';

/** One connection has 16 creates in progress, and 125 connections have 2,000. */
const CONNECTIONS = 125;
const PER_CONNECTION = 16;

test('while the turns of the event loop take too long, only health checks are served, and 401 comes before 503', async () => {
  const { client } = await startServer('memory');
  const turn = vi.spyOn(Turn.prototype, 'count').mockReturnValue(true);
  onTestFinished(() => turn.mockRestore());
  const statusOf = async (path: string, key?: null) =>
    (await client.request('GET', path, { ...(key === null && { key }), headers: { Connection: 'close' } }))
      .status;
  expect(await statusOf('/v1/pets')).toBe(503);
  expect(await statusOf('/v1/nothing')).toBe(503);
  expect(await statusOf('/openapi.json')).toBe(503);
  expect(await statusOf('/v1/pets', null)).toBe(401);
  expect(await statusOf('/livez')).toBe(200);
  expect(await statusOf('/readyz?verbose')).toBe(200);
});

test('while the server is too busy, repeated responses on a connection are delayed, for each caller', async () => {
  const { server, store, key, origin } = await startServer('memory', {
    rateLimit: { requests: 1, seconds: 60 },
  });
  const { key: other } = await store.apiKeys.create('other');
  const connection = await Connection.open(origin);
  const send = async (authorization: string) => {
    const start = performance.now();
    connection.write(`GET /v1/pets HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`);
    const { status } = await connection.next();
    return [status, performance.now() - start < 400 ? 'at once' : 'late'];
  };
  const bearer = (text: string) => `Authorization: Bearer ${text}\r\n`;
  expect(await send(bearer(key))).toEqual([200, 'at once']);
  expect(await send(bearer(key))).toEqual([429, 'at once']);
  expect(await send(bearer(key))).toEqual([429, 'at once']);
  const turn = vi.spyOn(Turn.prototype, 'count').mockReturnValue(true);
  onTestFinished(() => turn.mockRestore());
  expect(await send(bearer(key))).toEqual([503, 'at once']);
  expect(await send(bearer(other))).toEqual([503, 'at once']);
  expect(await send('')).toEqual([401, 'at once']);
  expect(await send('')).toEqual([401, 'late']);
  expect(await send(bearer(key))).toEqual([503, 'at once']);
  expect(await send(bearer(key))).toEqual([503, 'late']);
  const stopped = server.stop(5000);
  expect(await send(bearer(key))).toEqual([503, 'at once']);
  await stopped;
});

describe.each(STORAGES)('while 2,000 creates are in progress, on %s', (storage) => {
  test('a create is refused before its body is read, and reads are served', async () => {
    const outcomes: RequestOutcome[] = [];
    const { wrap, open, waiting } = gate();
    const { client, key, origin, errors } = await startServer(storage, {
      wrap,
      observers: [{ onRequest: (outcome) => outcomes.push(outcome) }],
    });
    const body = '{"name":"Rex","categoryId":1}';
    const fields = `Host: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const head = (length: number) => `POST /v1/pets HTTP/1.1\r\n${fields}Content-Length: ${length}\r\n\r\n`;
    const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(origin)));
    for (const { socket } of connections) socket.write((head(body.length) + body).repeat(PER_CONNECTION));
    await expect.poll(waiting).toBe(CONNECTIONS * PER_CONNECTION);

    const refused = await Connection.open(origin);
    refused.write(head(1000));
    const answer = await refused.next();
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(JSON.parse(answer.body)).toMatchObject({
      code: 'overloaded',
      message: 'too many pets are being stored',
    });
    expect(outcomes.at(-1)).toMatchObject({ method: 'POST', status: 503, keyId: expect.any(String) });
    const unauthorized = await client.request('POST', '/v1/pets', { key: 'pets_wrong', body });
    expect(unauthorized.status).toBe(401);
    expect(errors).toMatchObject([{ code: 'overloaded' }]);
    expect((await client.get('/v1/pets')).status).toBe(200);
    expect((await client.get('/readyz')).status).toBe(200);

    // This client ignores Retry-After, and its next responses are delayed.
    const start = performance.now();
    refused.write(`${'x'.repeat(1000)}${head(1000)}`);
    expect(await refused.next()).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(performance.now() - start).toBeGreaterThan(400);
    const leaving = await Connection.open(origin);
    leaving.write(head(0) + head(0));
    expect((await leaving.next()).status).toBe(503);
    leaving.destroy();
    await expect.poll(() => outcomes.at(-1)).toMatchObject({ status: 503, aborted: true });

    open();
    await expect.poll(async () => (await client.post(body)).status, { timeout: 15_000 }).toBe(201);
    for (const connection of [refused, ...connections]) connection.destroy();
  });

  test('a server that stops sends the delayed responses at once', async () => {
    const { wrap, open, waiting } = gate();
    const { server, key, origin } = await startServer(storage, { wrap });
    const body = '{"name":"Rex","categoryId":1}';
    const fields = `Host: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
    const create = `POST /v1/pets HTTP/1.1\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`;
    const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(origin)));
    for (const { socket } of connections) socket.write(create.repeat(PER_CONNECTION));
    await expect.poll(waiting).toBe(CONNECTIONS * PER_CONNECTION);
    const refused = await Connection.open(origin);
    refused.write(create + create);
    expect((await refused.next()).status).toBe(503);
    const start = performance.now();
    const stopped = server.stop(60_000);
    expect((await refused.next()).status).toBe(503);
    expect(performance.now() - start).toBeLessThan(400);
    open();
    await stopped;
    for (const connection of [refused, ...connections]) connection.destroy();
  });

  test('a create that fails makes room for another one', async () => {
    const { client } = await startServer(storage);
    for (let count = 0; count < 50; count += 1) {
      expect((await client.post('{"name":"","categoryId":1}')).status).toBe(400);
    }
    expect((await client.post('{"name":"Rex","categoryId":1}')).status).toBe(201);
  });
});
