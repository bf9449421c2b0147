import { describe, expect, test } from 'vitest';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import { STORAGES, sharedServer, startServer } from '../../support/server.ts';

const REX = { name: 'Rex', categoryId: 7 };

describe.each(STORAGES)('Idempotency-Key, on %s', (storage) => {
  const server = sharedServer(storage);
  const create = (idempotencyKey: string | string[], pet: unknown = REX, key = server.key) =>
    server.client.request('POST', '/v1/pets', {
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
      body: typeof pet === 'string' ? pet : JSON.stringify(pet),
      key,
    });
  const count = async () => (await server.storage.pets.list({ limit: 100 })).pets.length;

  test('a repeated request gets the first response again, marked as a replay', async () => {
    const first = await create('a');
    const before = await count();
    const second = await create('a');
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toBe(first.body);
    expect(second.headers['location']).toBe(first.headers['location']);
    expect(first.headers).not.toHaveProperty('idempotency-replayed');
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(await count()).toBe(before);
  });

  test('requests at the same moment create one pet', async () => {
    const before = await count();
    const responses = await Promise.all(Array.from({ length: 20 }, () => create('same-moment')));
    expect(new Set(responses.map(({ body }) => body)).size).toBe(1);
    expect(responses.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
    expect(await count()).toBe(before + 1);
  });

  test('an int64 is exact in a replay, and members that the API ignores are not compared', async () => {
    const first = await create('exact', '{"name":"Rex","categoryId":9007199254740993}');
    const second = await create(
      'exact',
      '{"status":"available","id":5,"categoryId":9007199254740993.0,"name":"Rex"}',
    );
    expect(second.body).toBe(first.body);
    expect(second.body).toContain('9007199254740993');
    expect((await create('exact', '{"name":"Rex","categoryId":9007199254740992}')).status).toBe(422);
  });

  test('a different pet is a conflict', async () => {
    await create('conflict');
    const before = await count();
    const { status, body, headers } = await create('conflict', { ...REX, name: 'Max' });
    expect(status).toBe(422);
    expect(JSON.parse(body)).toEqual({
      code: 'idempotency_conflict',
      message: expect.stringContaining('Idempotency-Key'),
      status: 422,
    });
    expect(headers['cache-control']).toBe('no-store');
    expect(await count()).toBe(before);
  });

  test.each(['', ' ', 'a b', 'ä', 'x'.repeat(256), 'a\tb'])('refuses the key %j', async (key) => {
    const before = await count();
    const { status, body } = await create(key);
    expect(status).toBe(400);
    expect(JSON.parse(body).message).toContain('Idempotency-Key must have 1 to 255 visible ASCII characters');
    expect(await count()).toBe(before);
  });

  test('accepts every visible ASCII character, up to 255 of them', async () => {
    const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join('');
    for (const key of [visible, 'x'.repeat(255)]) {
      expect((await create(key)).status).toBe(201);
      expect((await create(key)).headers['idempotency-replayed']).toBe('true');
    }
  });

  test('refuses two field lines', async () => {
    expect((await create(['x', 'y'])).status).toBe(400);
    expect((await create(['x', 'x'])).status).toBe(400);
  });

  test('a refused request does not use up its key', async () => {
    expect((await create('refused', { name: 'Rex' })).status).toBe(400);
    const { status, headers } = await create('refused');
    expect([status, headers['idempotency-replayed']]).toEqual([201, undefined]);
  });

  test('each API key has its own keys, and a rotated key keeps those of its predecessor', async () => {
    const { apiKeys } = new AnimalStore(server.storage);
    const [anna, bert] = [await apiKeys.create('Anna'), await apiKeys.create('Bert')];
    const first = await create('shared', REX, anna.key);
    const other = await create('shared', REX, bert.key);
    expect(other.body).not.toBe(first.body);
    const next = await apiKeys.rotate(anna.about.id, 60_000);
    const third = await apiKeys.rotate(next.about.id, 60_000);
    for (const issued of [next, third, anna]) {
      const again = await create('shared', REX, issued.key);
      expect([again.body, again.headers['idempotency-replayed']]).toEqual([first.body, 'true']);
    }
  });

  test('is ignored by other operations', async () => {
    const { status } = await server.client.get('/v1/pets', { 'idempotency-key': 'a b' });
    expect(status).toBe(200);
  });
});

test('a storage without idempotency keys refuses the field, and stores nothing', async () => {
  const server = await startServer('memory', {
    wrap: ({ idempotentCreates, ...others }) => others as never,
  });
  const { status, body } = await server.client.post(REX, { 'idempotency-key': 'a' });
  expect([status, JSON.parse(body).message]).toEqual([
    400,
    'Idempotency-Key is not supported by this storage',
  ]);
  expect((await server.storage.pets.list({ limit: 1 })).pets).toEqual([]);
});
