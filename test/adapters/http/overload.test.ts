import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Admission } from '../../../src/adapters/http/api/admission.ts';
import { RefusalDelays } from '../../../src/adapters/http/api/refusal-delays.ts';
import { TurnQueue } from '../../../src/adapters/http/api/turn-queue.ts';
import type { RequestOutcome } from '../../../src/application/ports/observer.ts';
import { type Clock, stopClock, until } from '../../support/clock.ts';
import { Connection } from '../../support/connection.ts';
import { startServer, type TestServer } from '../../support/server.ts';

/** The maximum number of creates in progress. */
const CREATES_LIMIT = 2000;

/** The shortest and the longest delay of a response while no other response is delayed, in milliseconds. */
const DELAY_MIN = 500;
const DELAY_MAX = 1500;

/** A caller that waits for this time has heeded `Retry-After`, in milliseconds. */
const RETRY_TIME = 1000;

const BODY = '{"name":"Rex","categoryId":1}';

function beTooBusy(): void {
  const turn = vi.spyOn(TurnQueue.prototype, 'waitingTime', 'get').mockReturnValue(500);
  onTestFinished(() => turn.mockRestore());
}

function headOf(key: string, length: number): string {
  const fields = `Host: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  return `POST /v1/pets HTTP/1.1\r\n${fields}Content-Length: ${length}\r\n\r\n`;
}

/** Makes a server count many creates in progress. Returns a function that ends them. */
async function beginCreates({ client }: TestServer, total = CREATES_LIMIT): Promise<() => void> {
  const begin = vi.spyOn(Admission.prototype, 'beginCreate');
  expect((await client.post(BODY)).status).toBe(201);
  const admission = begin.mock.contexts[0] as Admission;
  begin.mockRestore();
  for (let count = 0; count < total; count += 1) admission.beginCreate();
  return () => {
    for (let count = 0; count < total; count += 1) admission.endCreate();
  };
}

test('while requests wait for too long, only health checks are served, and 401 comes before 503', async () => {
  const { client } = await startServer('memory');
  beTooBusy();
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

/** Returns a function that returns how many refusals have reached their delay since this call. */
function countRefusals(): () => number {
  const { mock, mockRestore } = vi.spyOn(RefusalDelays.prototype, 'wait');
  onTestFinished(() => mockRestore());
  const before = mock.calls.length;
  return () => mock.calls.length - before;
}

/** Sends a request whose response is delayed, and resolves with the status of the response. */
async function lateStatus(
  { client }: TestServer,
  clock: Clock,
  connection: Connection,
  request: string,
): Promise<number> {
  let isDelayed = true;
  const refusals = countRefusals();
  connection.write(request);
  const response = connection.next().finally(() => {
    isDelayed = false;
  });
  await until(() => refusals() === 1);
  clock.pass(DELAY_MIN - 1);
  expect((await client.get('/livez')).status).toBe(200);
  expect(isDelayed).toBe(true);
  clock.pass(DELAY_MAX - DELAY_MIN + 1);
  return (await response).status;
}

test('before the server is too busy, repeated responses to a client without an API key are delayed', async () => {
  const running = await startServer('memory', { corsOrigins: ['https://example.org'] });
  const crowded = vi.spyOn(TurnQueue.prototype, 'waitingTime', 'get').mockReturnValue(10);
  onTestFinished(() => crowded.mockRestore());
  const clock = stopClock();
  const preflight = 'Origin: https://example.org\r\nAccess-Control-Request-Method: GET\r\n';
  for (const [line, fields, status] of [
    ['GET /livez', '', 200],
    ['GET /openapi.json', '', 200],
    ['GET /v1/pets', '', 401],
    ['GET /nothing', '', 404],
    ['OPTIONS /v1/pets', preflight, 204],
  ] as const) {
    const request = `${line} HTTP/1.1\r\nHost: x\r\n${fields}\r\n`;
    const connection = await Connection.open(running.origin);
    connection.write(request);
    expect([line, (await connection.next()).status]).toEqual([line, status]);
    expect([line, await lateStatus(running, clock, connection, request)]).toEqual([line, status]);
    connection.destroy();
  }
  const connection = await Connection.open(running.origin);
  for (const [target, status] of [
    ['/v1/pets', 401],
    ['/livez', 200],
    ['/readyz', 200],
  ] as const) {
    connection.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    if (target !== '/readyz') expect([target, (await connection.next()).status]).toEqual([target, status]);
  }
  clock.pass(DELAY_MAX);
  await connection.next();
  const list = `GET /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${running.key}\r\n\r\n`;
  connection.write(list.repeat(2));
  expect([(await connection.next()).status, (await connection.next()).status]).toEqual([200, 200]);
});

test('while the server is too busy, repeated responses on a connection are delayed, for each caller', async () => {
  const running = await startServer('memory', { rateLimit: { requests: 1, seconds: 60 } });
  const { server, store, key, origin } = running;
  const { key: other } = await store.apiKeys.create('other');
  const clock = stopClock();
  const connection = await Connection.open(origin);
  const get = (authorization: string) => `GET /v1/pets HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`;
  const atOnce = async (authorization: string) => {
    connection.write(get(authorization));
    return (await connection.next()).status;
  };
  const late = (authorization: string) => lateStatus(running, clock, connection, get(authorization));
  const bearer = (text: string) => `Authorization: Bearer ${text}\r\n`;
  expect(await atOnce(bearer(key))).toBe(200);
  expect(await atOnce(bearer(key))).toBe(429);
  expect(await atOnce(bearer(key))).toBe(429);
  beTooBusy();
  expect(await atOnce(bearer(key))).toBe(503);
  expect(await atOnce(bearer(other))).toBe(503);
  expect(await atOnce('')).toBe(401);
  expect(await late('')).toBe(401);
  expect(await atOnce(bearer(key))).toBe(503);
  expect(await late(bearer(key))).toBe(503);
  clock.pass(RETRY_TIME);
  expect(await atOnce(bearer(key))).toBe(503);
  const stopped = server.stop(60_000);
  expect(await atOnce(bearer(key))).toBe(503);
  await clock.passUntil(stopped);
});

describe('while 2,000 creates are in progress', () => {
  test('a create is refused before its body is read, and reads are served', async () => {
    const outcomes: RequestOutcome[] = [];
    const server = await startServer('memory', {
      observers: [{ onRequest: (outcome) => outcomes.push(outcome) }],
    });
    const { client, key, origin, errors } = server;
    const endCreates = await beginCreates(server);
    const clock = stopClock();

    const refused = await Connection.open(origin);
    refused.write(headOf(key, 1000));
    const answer = await refused.next();
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(JSON.parse(answer.body)).toMatchObject({
      code: 'overloaded',
      message: 'too many pets are being stored',
    });
    expect(outcomes.at(-1)).toMatchObject({ method: 'POST', status: 503, keyId: expect.any(String) });
    const unauthorized = await client.request('POST', '/v1/pets', { key: 'pets_wrong', body: BODY });
    expect(unauthorized.status).toBe(401);
    expect(errors).toMatchObject([{ code: 'overloaded' }]);
    expect((await client.get('/v1/pets')).status).toBe(200);
    expect((await client.get('/readyz')).status).toBe(200);

    // This client ignores Retry-After, and its next responses are delayed.
    const next = `${'x'.repeat(1000)}${headOf(key, 1000)}`;
    expect(await lateStatus(server, clock, refused, next)).toBe(503);
    const leaving = await Connection.open(origin);
    leaving.write(headOf(key, 0) + headOf(key, 0));
    expect((await leaving.next()).status).toBe(503);
    leaving.destroy();
    await until(() => outcomes.at(-1)?.aborted === true);
    expect(outcomes.at(-1)).toMatchObject({ method: 'POST', status: 503 });

    endCreates();
    expect((await client.post(BODY)).status).toBe(201);
    refused.destroy();
  });

  test('a server that stops sends the delayed responses at once', async () => {
    const running = await startServer('memory');
    const { server, key, origin } = running;
    await beginCreates(running);
    const clock = stopClock();
    const refusals = countRefusals();
    const refused = await Connection.open(origin);
    refused.write(headOf(key, 0) + headOf(key, 0));
    expect((await refused.next()).status).toBe(503);
    await until(() => refusals() === 2);
    const stopped = server.stop(60_000);
    expect((await refused.next()).status).toBe(503);
    await clock.passUntil(stopped);
  });
});

test('a create that fails makes room for another one', async () => {
  const server = await startServer('memory');
  await beginCreates(server, CREATES_LIMIT - 1);
  expect((await server.client.post('{"name":"","categoryId":1}')).status).toBe(400);
  expect((await server.client.post(BODY)).status).toBe(201);
});
