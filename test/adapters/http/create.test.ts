/** The rules for the members of a body and for `Idempotency-Key`. `every-storage.test.ts` tests what is stored. */

import { describe, expect, test } from 'vitest';
import { MemoryIdempotentCreates } from '../../../src/adapters/memory/idempotent-creates.ts';
import { MemoryPetRepository } from '../../../src/adapters/memory/pet-repository.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { sharedServer, startServer } from '../../support/server.ts';
import { JSON_TYPE, REX } from './paths.ts';

describe('the body of POST /v1/pets', () => {
  const server = sharedServer('memory');
  const create = (members: string) => server.client.post(`{"name":"Rex",${members}}`);
  const messageFor = async (body: string) => {
    const { code, message, status } = JSON.parse((await server.client.post(body)).body);
    expect([code, status], body).toEqual(['invalid_request', 400]);
    return message;
  };

  test('may have other members, including id and __proto__, which are ignored', async () => {
    const others = '"id":1000000,"tag":{"a":[1.5,null]},"constructor":1,"__proto__":{"status":"sold"}';
    const { id, ...pet } = JSON.parse((await create(`"categoryId":1,${others}`)).body);
    expect(pet).toEqual({ name: 'Rex', categoryId: 1, status: 'available' });
    expect(id).toBeLessThan(1_000_000);
    expect(await messageFor('{"__proto__":{"name":"Rex","categoryId":1}}')).toContain('name is required');
  });
});

describe('Idempotency-Key', () => {
  const server = sharedServer('memory');
  const create = (idempotencyKey: string | string[], body = REX) => {
    const headers = { ...JSON_TYPE, 'Idempotency-Key': idempotencyKey };
    return server.client.request('POST', '/v1/pets', { headers, body });
  };

  test('has 1 to 255 visible ASCII characters, in one line', async () => {
    const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('');
    for (const key of [visible, 'x'.repeat(255)]) {
      expect((await create(key)).status).toBe(201);
      expect((await create(key)).headers['idempotency-replayed']).toBe('true');
    }
    for (const key of ['', ' ', 'a b', '\u00e4', 'x'.repeat(256), 'a\tb', ['x', 'y'], ['x', 'x']]) {
      const { status, body } = await create(key);
      expect([status, JSON.parse(body).message], String(key)).toEqual([
        400,
        expect.stringContaining('Idempotency-Key must have 1 to 255 visible ASCII characters'),
      ]);
    }
    expect((await server.storage.pets.list({ limit: 100 })).pets).toHaveLength(2);
  });

  test('is not used up by a refused request', async () => {
    expect((await create('refused', '{"name":"Rex"}')).status).toBe(400);
    const { status, headers } = await create('refused');
    expect([status, headers['idempotency-replayed']]).toEqual([201, undefined]);
  });

  test('is refused with 429 and the time until the oldest one expires, if its caller has used too many', async () => {
    const wrap = (storage: Storage) => ({
      ...storage,
      idempotentCreates: new MemoryIdempotentCreates(
        new MemoryPetRepository(),
        new AbortController().signal,
        1,
      ),
    });
    const { client, errors } = await startServer('memory', { wrap });
    const createWith = (key: string) => client.post(REX, { 'idempotency-key': key });
    expect((await createWith('a')).status).toBe(201);
    const { status, headers, body } = await createWith('b');
    const { code, message } = JSON.parse(body);
    expect([status, code]).toEqual([429, 'rate_limited']);
    const retryAfter = Number(headers['retry-after']);
    expect(message).toContain(`retry after ${retryAfter} s`);
    const day = 24 * 60 * 60;
    expect(retryAfter).toBeGreaterThan(day - 600);
    expect(retryAfter).toBeLessThanOrEqual(day + 120);
    expect((await createWith('a')).headers).toMatchObject({ 'idempotency-replayed': 'true' });
    expect(errors).toEqual([]);
  });

  test('is refused, and nothing is stored, by a storage without idempotency keys', async () => {
    const wrap = ({ idempotentCreates, ...others }: Storage) => others as Storage;
    const other = await startServer('memory', { wrap });
    const { status, body } = await other.client.post(REX, { 'idempotency-key': 'a' });
    const message = 'Idempotency-Key is not supported by this storage';
    expect([status, JSON.parse(body).message]).toEqual([400, message]);
    expect((await other.storage.pets.list({ limit: 1 })).pets).toEqual([]);
  });
});
