import { describe, expect, test } from 'vitest';
import type { Answer, Client } from '../../support/client.ts';
import { STORAGES, sharedServer, startServer } from '../../support/server.ts';

const STATUSES = ['available', 'pending', 'sold'];

describe.each(STORAGES)('GET /v1/pets, on %s', (storage) => {
  const server = sharedServer(storage);

  test('responds with an array of pets, in ascending order of id', async () => {
    const { client } = await startServer(storage);
    expect(await client.get('/v1/pets')).toMatchObject({ status: 200, body: '[]' });
    const created = await createMany(client, 5);
    const answer = await client.get('/v1/pets');
    expect(answer.body).toBe(`[${created.map(({ body }) => body).join(',')}]`);
    expect(idsOf(answer)).toEqual(idsOf(answer).toSorted((a, b) => a - b));
    expect(answer.headers).not.toHaveProperty('link');
  });

  test('returns 20 pets by default, and 1 to 100 pets with a limit', async () => {
    const { client } = await startServer(storage);
    await createMany(client, 101);
    expect(idsOf(await client.get('/v1/pets'))).toHaveLength(20);
    for (const limit of [1, 2, 20, 99, 100]) {
      expect(idsOf(await client.get(`/v1/pets?limit=${limit}`))).toHaveLength(limit);
    }
  });

  test('filters by status', async () => {
    const { client } = await startServer(storage);
    await createMany(client, 9);
    for (const status of STATUSES) {
      const pets = JSON.parse((await client.get(`/v1/pets?status=${status}`)).body);
      expect(pets.map((pet: { status: string }) => pet.status)).toEqual([status, status, status]);
    }
  });

  test.each([
    [
      'limit',
      ['0', '-1', '101', '1e1', '1.0', '1.5', '+5', '05', ' 5', '5 ', '%205', '0x5', 'ten', '', '5,6'],
    ],
    ['limit', ['99999999999999999999', '9223372036854775807', '%EF%BC%95', '5%00', 'NaN', 'true', '-0']],
    ['status', ['', 'gone', 'Sold', 'sold%20', 'sold,pending', 'null', 'toString', '%00']],
    [
      'after',
      ['', 'x', '1.0', '1e1', '+1', '01', '-0', '9223372036854775808', '-9223372036854775809', '%zz'],
    ],
  ])('responds 400 to an invalid %s, and names the parameter: %j', async (name, values) => {
    for (const value of values) {
      const answer = await server.client.get(`/v1/pets?${name}=${value.replaceAll(' ', '+')}`);
      expect(answer, value).toMatchObject({ status: 400, body: expect.stringContaining(`${name} must be`) });
    }
  });

  test.each(['limit', 'limit=5&limit', 'status', 'status&status=sold', 'after', 'after=1&after'])(
    'responds 400 to a parameter without a value: %s',
    async (query) => {
      expect((await server.client.get(`/v1/pets?${query}`)).status).toBe(400);
    },
  );

  test.each([
    'limit=5&limit=5',
    'limit=5&limit=6',
    'status=sold&status=sold',
    'after=1&after=1',
    'limit=1&%6Cimit=1',
  ])('responds 400 to a parameter that is given twice: %s', async (query) => {
    const answer = await server.client.get(`/v1/pets?${query}`);
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('must be given once') });
  });

  test('names every invalid parameter', async () => {
    const { body } = await server.client.get('/v1/pets?limit=0&status=gone&after=x');
    expect(JSON.parse(body).message).toBe(
      'limit must be an integer from 1 to 100; status must be one of available, pending, sold; ' +
        'after must be an integer from -9223372036854775808 to 9223372036854775807',
    );
  });

  test.each([
    'page=2',
    'offset=5',
    'cursor=x',
    'Limit=0',
    'LIMIT=x',
    'limit[]=0',
    'limit%00=0',
    '__proto__=1',
    'constructor=1',
    'toString',
    '&&&',
    '=',
    '%zz=%zz',
    '%',
    '%C3',
    'x=%FF',
    'x='.padEnd(4000, 'y'),
  ])('ignores undefined parameters: %s', async (query) => {
    expect((await server.client.get(`/v1/pets?${query}`)).status).toBe(200);
    expect((await server.client.get(`/v1/pets?limit=0&${query}`)).status).toBe(400);
  });

  test('accepts the minimum and the maximum of int64 as after', async () => {
    const { client } = await startServer(storage);
    await createMany(client, 3);
    expect(idsOf(await client.get('/v1/pets?after=-9223372036854775808'))).toHaveLength(3);
    expect(idsOf(await client.get('/v1/pets?after=0'))).toHaveLength(3);
    expect(idsOf(await client.get('/v1/pets?after=9007199254740993'))).toEqual([]);
    expect(idsOf(await client.get('/v1/pets?after=9223372036854775807'))).toEqual([]);
  });

  test('links to the next page if there is one, with the same limit and status', async () => {
    const { client } = await startServer(storage);
    const ids = (await createMany(client, 9)).map(({ body }) => JSON.parse(body).id);
    const pending = ids.filter((_, index) => index % 3 === 1);
    const link = async (query: string) => (await client.get(`/v1/pets?${query}`)).headers['link'];
    expect(await link('limit=4')).toBe(`</v1/pets?limit=4&after=${ids[3]}>; rel="next"`);
    expect(await link('limit=9')).toBeUndefined();
    expect(await link(`limit=4&after=${ids[3]}`)).toBe(`</v1/pets?limit=4&after=${ids[7]}>; rel="next"`);
    expect(await link(`limit=4&after=${ids[7]}`)).toBeUndefined();
    expect(await link('status=pending&limit=2')).toBe(
      `</v1/pets?limit=2&status=pending&after=${pending[1]}>; rel="next"`,
    );
    expect(await link(`status=pending&limit=2&after=${pending[1]}`)).toBeUndefined();
    expect(await link('status=pending&limit=3')).toBeUndefined();
  });

  test('has no link on the last page, and has one as soon as there is a further pet', async () => {
    const { client } = await startServer(storage);
    await createMany(client, 2);
    const last = await client.get('/v1/pets?limit=2');
    expect(last.headers).not.toHaveProperty('link');
    await createMany(client, 1);
    const etag = last.headers['etag'] ?? '';
    const again = await client.get('/v1/pets?limit=2', { 'If-None-Match': etag });
    expect(again).toMatchObject({
      status: 200,
      body: last.body,
      headers: { link: expect.stringContaining('next') },
    });
  });

  test('a walk over 250 pets with limit=37 returns each pet once while another client creates pets', async () => {
    const { client } = await startServer(storage);
    const before = (await createMany(client, 250)).map(({ body }) => JSON.parse(body).id);
    let walking = true;
    const other = (async () => {
      let created = 0;
      while (walking) created += (await createMany(client, 3)).length;
      return created;
    })();
    const seen: number[] = [];
    let target: string | undefined = '/v1/pets?limit=37';
    for (let pages = 0; target !== undefined && pages < 500 && seen.length < 10_000; pages += 1) {
      const answer: Answer = await client.get(target);
      seen.push(...idsOf(answer));
      target = /^<(.*)>; rel="next"$/.exec(answer.headers['link'] ?? '')?.[1];
      if (before.every((id) => seen.includes(id))) walking = false;
    }
    walking = false;
    expect(await other).toBeGreaterThan(0);
    expect(seen).toEqual([...new Set(seen)].toSorted((a, b) => a - b));
    expect(seen.filter((id) => before.includes(id))).toEqual(before);
  });

  test('includes every earlier create: a client reads its own writes', async () => {
    const { client } = await startServer(storage);
    for (let count = 1; count <= 30; count += 1) {
      await createMany(client, 1);
      expect(idsOf(await client.get('/v1/pets?limit=100'))).toHaveLength(count);
    }
  });
});

/** Creates pets one after another. Their status is available, pending and sold in turn. */
async function createMany(client: Client, count: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let index = 0; index < count; index += 1) {
    answers.push(await client.post({ name: `pet ${index}`, categoryId: index, status: STATUSES[index % 3] }));
  }
  return answers;
}

function idsOf({ body }: Answer): number[] {
  return JSON.parse(body).map(({ id }: { id: number }) => id);
}
