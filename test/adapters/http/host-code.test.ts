/** What code of the host returns or throws: verifiers, observers, proxies, metrics and storages without types. */

import { expect, onTestFinished, test, vi } from 'vitest';
import type { RequestOutcome } from '../../../src/adapters/http/index.ts';
import type { KeyVerifier } from '../../../src/adapters/http/options.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';
import { sharedServer, startServer } from '../../support/server.ts';
import { REX } from './paths.ts';

const ANNA = { id: 'anna', name: 'Anna' };

/** Fails the test when a promise is rejected that nothing handles, which would end a program. */
function noUnhandledRejection(): void {
  const onRejection = vi.fn<(reason: unknown) => void>();
  process.on('unhandledRejection', onRejection);
  onTestFinished(() => {
    process.off('unhandledRejection', onRejection);
    expect(onRejection.mock.calls).toEqual([]);
  });
}

test.each<[status: number, found: unknown[]]>([
  [401, [undefined, null, false]],
  [
    500,
    [
      ...[true, 0, 1, 0n, '', 'admin', Symbol('id'), () => ANNA, [], ['anna'], {}, new Date()],
      ...[undefined, null, '', 0, 5, true, {}, ['anna']].map((id) => ({ id, name: 'Anna' })),
      ...['', 0, 5, false, {}].map((callerId) => ({ ...ANNA, callerId })),
    ],
  ],
  [201, [ANNA, { id: 'anna' }, { ...ANNA, callerId: 'a' }, { ...ANNA, callerId: null }]],
])('whatever a verifier finds, the status is %i if it should be', async (status, found) => {
  const verify = vi.fn<(key: string) => unknown>();
  const { client, errors, storage } = await startServer('memory', {
    apiKeys: { verify } as unknown as KeyVerifier,
    rateLimit: { requests: 1000, seconds: 1 },
  });
  for (const holder of found) {
    for (const resolve of [() => holder, async () => holder]) {
      verify.mockImplementationOnce(resolve);
      expect((await client.post(REX, { 'Idempotency-Key': 'a' })).status, String(holder)).toBe(status);
    }
  }
  expect((await storage.pets.list({ limit: 1 })).pets).toHaveLength(status === 201 ? 1 : 0);
  expect(errors).toHaveLength(status === 500 ? 2 * found.length : 0);
  for (const error of errors)
    expect(String(error)).toContain('apiKeys.verify: expected undefined, or an object');
});

test('a verifier and a storage of keys that find nothing, or fail, let nobody in', async () => {
  for (const find of [async () => null, async () => true, async () => ({}), () => Promise.reject('x')]) {
    const wrap = (storage: Storage) => ({
      ...storage,
      apiKeys: { add: storage.apiKeys.add.bind(storage.apiKeys), find } as unknown as Storage['apiKeys'],
    });
    const { client } = await startServer('memory', { wrap });
    expect([401, 500]).toContain((await client.get('/v1/pets')).status);
  }
});

test('callbacks that throw, or whose promise is rejected, change no response and no create', async () => {
  noUnhandledRejection();
  const outcomes: RequestOutcome[] = [];
  const fail = () => {
    throw new Error('secret');
  };
  const failLater = () => Promise.reject(new Error('secret'));
  for (const call of [fail, failLater]) {
    const { client } = await startServer('memory', {
      observers: [{ onRequest: call, onError: call }, { onRequest: (outcome) => outcomes.push(outcome) }],
      apiKeys: { verify: async () => ANNA, hasPartOfKey: call } as unknown as KeyVerifier,
    });
    const fields = { 'X-Request-Id': crypto.randomUUID(), 'X-Forwarded-For': '192.0.2.1' };
    const { status, headers } = await client.post(REX, fields);
    expect(status).toBe(201);
    expect(headers['x-request-id']).not.toBe(fields['X-Request-Id']);
    expect((await client.get('/v1/nothing', fields)).status).toBe(404);
  }
  expect(outcomes.map(({ status, address }) => [status, address])).toEqual(
    [201, 404, 201, 404].map((status) => [status, '127.0.0.1']),
  );
});

test('a response that cannot be sent is a 500, and is logged', async () => {
  for (const metrics of [
    { contentType: 'text/plain\r\nX: y', text: async () => 'a 1' },
    { contentType: undefined as unknown as string, text: async () => 'a 1' },
    { contentType: 'text/plain', text: async () => undefined as unknown as string },
    { contentType: 'text/plain', text: async () => 7 as unknown as string },
  ]) {
    const { client, errors } = await startServer('memory', { metrics });
    expect((await client.get('/metrics')).status).toBe(500);
    expect(errors).toEqual([expect.any(Error)]);
    expect((await client.get('/v1/pets')).status).toBe(200);
  }
});

test.each([
  ['1', [-5, 0, -0, Number.NaN, -Infinity, '5', null, undefined, {}, 0.2]],
  ['3', [3, 2.1]],
  ['2147483647', [Infinity, 1e300, 2 ** 31]],
])('Retry-After is %s, whatever an adapter sets', async (expected, values) => {
  const errors = values.map((retryAfter) =>
    Object.assign(new AnimalStoreError('rate_limited', 'too many'), { retryAfter }),
  );
  const list = () => Promise.reject(errors.shift());
  const wrap = (storage: Storage) => ({ ...storage, pets: { ...storage.pets, list } as Storage['pets'] });
  const { client } = await startServer('memory', { wrap });
  for (const _ of values) expect((await client.get('/v1/pets')).headers['retry-after']).toBe(expected);
});

test('an error whose members have other types is a 500', async () => {
  const wrong = Object.assign(new AnimalStoreError('overloaded', ''), { message: 5n });
  const wrap = (storage: Storage) => ({ ...storage, check: () => Promise.reject(wrong) }) as Storage;
  const list = { list: () => Promise.reject(wrong) } as unknown as Storage['pets'];
  const { client } = await startServer('memory', { wrap: (storage) => ({ ...wrap(storage), pets: list }) });
  expect((await client.get('/v1/pets')).status).toBe(500);
  expect((await client.get('/readyz')).status).toBe(503);
});

const cors = sharedServer('memory', { corsOrigins: ['https://example.org'] });

test('a client may choose the name of a field as its request id', async () => {
  for (const id of ['Vary', 'vary', 'Content-Type', 'ETag', 'Location']) {
    const fields = { 'X-Request-Id': id, Origin: 'https://example.org' };
    const { status, headers } = await cors.client.post(REX, fields);
    expect(status).toBe(201);
    expect(headers).toMatchObject({ 'x-request-id': id, vary: expect.stringMatching(/^Origin/) });
  }
});

test('a storage that is another program resolves with null where it finds nothing', async () => {
  const find = async () => null as unknown as undefined;
  const wrap = (storage: Storage) => ({ ...storage, pets: { ...storage.pets, find } as Storage['pets'] });
  const { client } = await startServer('memory', { wrap });
  expect((await client.get('/v1/pets/1')).status).toBe(404);
});
