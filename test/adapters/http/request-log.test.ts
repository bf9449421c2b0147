import { Writable } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { logObserver } from '../../../src/adapters/log/index.ts';
import { Connection } from '../../support/connection.ts';
import { STORAGES, startServer } from '../../support/server.ts';

const CANARY = 'canary-7f3a';

interface Line {
  readonly requestId: string;
  readonly [name: string]: unknown;
}

/** Returns a logger, and the lines that it has written. */
function log() {
  const texts: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      texts.push(String(chunk));
      done();
    },
  });
  const logger = pino({ base: null }, stream);
  return { logger, texts, lines: () => texts.map((text) => JSON.parse(text) as Line) };
}

describe.each(STORAGES)('the log, on %s', (storage) => {
  test('has one line per request, with all known fields', async () => {
    const { logger, lines } = log();
    const { client, storage: store } = await startServer(storage, { observers: [logObserver(logger)] });
    const [about] = await store.apiKeys.list();
    const headers = { 'X-Request-Id': 'my-id' };
    await client.get('/v1/pets?limit=5', headers);
    await client.post({ name: 'Rex', categoryId: 1 }, headers);
    await client.get('/v1/pets/999', headers);
    await client.request('DELETE', '/v1/pets', { headers });
    await client.request('GET', '/v1/pets', { headers, key: null });
    await client.request('HEAD', '/nothing', { headers, key: null });
    await client.request('OPTIONS', '/v1/pets', { headers });
    const keyId = about?.id;
    const common = { level: 30, msg: 'request', requestId: 'my-id', ms: expect.any(Number) };
    expect(lines()).toMatchObject([
      { ...common, method: 'GET', route: '/v1/pets', status: 200, keyId },
      { ...common, method: 'POST', route: '/v1/pets', status: 201, keyId },
      { ...common, method: 'GET', route: '/v1/pets/{petId}', status: 404, keyId },
      { ...common, method: 'DELETE', route: '/v1/pets', status: 405, keyId },
      { ...common, method: 'GET', status: 401 },
      { ...common, method: 'HEAD', status: 404 },
      { ...common, method: 'OPTIONS', route: '/v1/pets', status: 204, keyId },
    ]);
    expect(lines()[4]).not.toHaveProperty('keyId');
    expect(lines()[5]).not.toHaveProperty('route');
  });

  test('has a line for each message that is not HTTP, with the request id of the response', async () => {
    const { logger, lines } = log();
    const { origin } = await startServer(storage, { observers: [logObserver(logger)] });
    for (const message of ['garbage\r\n\r\n', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n']) {
      const connection = await Connection.open(origin);
      connection.write(message);
      const [answer] = await connection.rest();
      expect(lines().at(-1)).toMatchObject({
        status: answer?.status,
        requestId: answer?.headers['x-request-id'],
      });
    }
    expect(lines()).toHaveLength(2);
  });

  test('has one line for a request that the client has aborted, marked as aborted', async () => {
    const { logger, lines } = log();
    const { origin, key, errors } = await startServer(storage, { observers: [logObserver(logger)] });
    const connection = await Connection.open(origin);
    const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
    connection.write(
      `${head}Content-Type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n`,
    );
    await new Promise((resolve) => connection.socket.once('received', resolve));
    connection.socket.resetAndDestroy();
    await expect.poll(() => lines().length).toBe(1);
    expect(lines()).toMatchObject([{ method: 'POST', route: '/v1/pets', status: 400, aborted: true }]);
    expect(errors).toEqual([]);
  });

  test('never contains an API key or a body', async () => {
    const { logger, texts } = log();
    const fail = () => Promise.reject(new Error('the storage broke'));
    const { client, key, errors } = await startServer(storage, {
      observers: [logObserver(logger)],
      wrap: (store) => ({
        ...store,
        pets: { ...store.pets, add: store.pets.add.bind(store.pets), find: fail, list: fail },
      }),
    });
    const wrong = `wrong-${CANARY}`;
    await client.post({ name: CANARY, categoryId: 1, [CANARY]: CANARY });
    await client.post(`{"name":"${CANARY}`);
    await client.post({ name: 1, categoryId: CANARY, status: CANARY });
    await client.post(CANARY, { 'Content-Type': 'text/plain' });
    await client.post(CANARY.repeat(10_000));
    await client.request('GET', '/v1/pets', { key: wrong });
    await client.get(`/v1/pets?access_token=${key}&q=${CANARY}`);
    await client.get(`/${CANARY}`, { 'X-Api-Key': key, Cookie: CANARY, 'X-Request-Id': `"${CANARY}"` });
    const all = texts.join('');
    expect(errors).toHaveLength(1);
    expect(texts).toHaveLength(9);
    expect(all).toContain('the storage broke');
    for (const secret of [key, key.slice(5, 30), CANARY]) expect(all).not.toContain(secret);
  });

  test('has no request lines above the level info, and requests are not observed', () => {
    expect(logObserver(pino({ level: 'warn' })).onRequest).toBeUndefined();
    expect(logObserver(pino({ level: 'silent' })).onRequest).toBeUndefined();
  });
});
