import { describe, expect, test } from 'vitest';
import { logObserver } from '../../../src/adapters/log/index.ts';
import { logTo } from '../../../src/adapters/log/log.ts';
import { PET_ATTRIBUTES } from '../../../src/domain/pet.ts';
import { newPetJson } from '../../../src/domain/pet-json.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { Connection } from '../../support/connection.ts';
import { failingPets, withPets } from '../../support/fake-pets.ts';
import { REX_JSON } from '../../support/pets.ts';
import { startServer } from '../../support/server.ts';

const CANARY = 'canary-7f3a';

function log() {
  const texts: string[] = [];
  const logger = logTo({ write: (line) => texts.push(line) }, 'info');
  return { logger, texts, lines: () => texts.map((text) => JSON.parse(text)) };
}

describe('the log', () => {
  test('has one line per request, with all known fields', async () => {
    const { logger, lines } = log();
    const { client, storage } = await startServer('memory', { observers: [logObserver(logger)] });
    const [about] = await storage.apiKeys.list();
    const headers = { 'X-Request-Id': 'my-id' };
    const startedAt = performance.now();
    await client.get('/v1/pets?limit=5', headers);
    await client.post(REX_JSON, headers);
    await client.get('/v1/pets/999', headers);
    await client.request('DELETE', '/v1/pets', { headers });
    await client.request('GET', '/v1/pets', { headers, key: null });
    await client.request('HEAD', '/nothing', { headers, key: null });
    await client.request('OPTIONS', '/v1/pets', { headers });
    const elapsed = performance.now() - startedAt;
    const keyId = about?.id;
    const common = { level: 30, msg: 'request', requestId: 'my-id', address: '127.0.0.1' };
    expect(lines()).toMatchObject([
      { ...common, method: 'GET', route: '/v1/pets', status: 200, keyId },
      { ...common, method: 'POST', route: '/v1/pets', status: 201, keyId },
      { ...common, method: 'GET', route: '/v1/pets/{petId}', status: 404, keyId },
      { ...common, method: 'DELETE', route: '/v1/pets', status: 405, keyId },
      { ...common, method: 'GET', path: '/v1/pets', status: 401 },
      { ...common, method: 'HEAD', path: '/nothing', status: 404 },
      { ...common, method: 'OPTIONS', route: '/v1/pets', status: 204, keyId },
    ]);
    for (const line of lines()) {
      expect(line.ms).toBeGreaterThan(0);
      expect(line.ms).toBeLessThan(elapsed);
    }
    expect(lines()[4]).not.toHaveProperty('keyId');
    expect(lines()[5]).not.toHaveProperty('route');
    for (const index of [0, 1, 2, 3, 6]) expect(lines()[index]).not.toHaveProperty('path');
  });

  test('has one line for a request that the client has aborted, marked as aborted', async () => {
    const { logger, lines } = log();
    const { origin, key, errors } = await startServer('memory', { observers: [logObserver(logger)] });
    const connection = await Connection.open(origin);
    const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
    connection.write(
      `${head}Content-Type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n`,
    );
    await new Promise((resolve) => connection.socket.once('received', resolve));
    connection.socket.resetAndDestroy();
    await expect.poll(() => lines().length).toBe(1);
    expect(lines()).toMatchObject([{ method: 'POST', status: 400, address: '127.0.0.1', aborted: true }]);
    expect(errors).toEqual([]);
  });

  test('never contains an API key or a body', async () => {
    const { logger, texts } = log();
    const fail = () => Promise.reject(new Error('the storage broke'));
    const { client, key, errors } = await startServer('memory', {
      observers: [logObserver(logger)],
      wrap: (store) => withPets(store, { find: fail, list: fail }),
    });
    const wrong = `wrong-${CANARY}`;
    await client.post(newPetJson(samplePet(CANARY)).replace('}', `,"${CANARY}":"${CANARY}"}`));
    await client.post(`{"${CANARY}`);
    await client.post(Object.fromEntries(PET_ATTRIBUTES.map((name) => [name, [CANARY]])));
    await client.post(CANARY, { 'Content-Type': 'text/plain' });
    await client.post(CANARY.repeat(10_000));
    await client.request('GET', '/v1/pets', { key: wrong });
    await client.get(`/v1/pets?access_token=${key}&x-q=${CANARY}`);
    await client.get(`/v1/nothing/${key}?${CANARY}`);
    await client.get('/', { 'X-Forwarded-For': CANARY, 'X-Forwarded-Proto': CANARY });
    await client.get(`/?${CANARY}`, { 'X-Api-Key': key, Cookie: CANARY, 'X-Request-Id': `"${CANARY}"` });
    const all = texts.join('');
    expect(errors).toHaveLength(1);
    expect(texts).toHaveLength(11);
    expect(all).toContain('the storage broke');
    for (const secret of [key, key.slice(5, 30), CANARY]) expect(all).not.toContain(secret);
  });

  test('has the traceparent of a request, also in the line of an error, if it is valid', async () => {
    const { logger, lines } = log();
    const wrap = failingPets(new Error('the storage broke'));
    const { client } = await startServer('memory', { observers: [logObserver(logger)], wrap });
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    await client.get('/v1/pets', { traceparent });
    expect(lines()).toMatchObject([
      { level: 50, traceparent },
      { level: 30, status: 500, traceparent },
    ]);
    const invalid = [
      `01${traceparent.slice(2)}`,
      traceparent.toUpperCase(),
      traceparent.replace(traceId, '0'.repeat(32)),
      traceparent.replace('00f067aa0ba902b7', '0'.repeat(16)),
      [traceparent, traceparent],
    ];
    for (const value of invalid) await client.get('/none', { traceparent: value });
    await client.get('/none');
    expect(lines()).toHaveLength(2 + invalid.length + 1);
    for (const line of lines().slice(2)) expect(line).not.toHaveProperty('traceparent');
  });
});
