/** The promises of the API about stored pets and keys, on every storage. The contract suites test the rest of a storage. */

import { describe, expect, test } from 'vitest';
import { servedOperations } from '../../../src/adapters/http/lifecycle.ts';
import { METHODS } from '../../../src/adapters/http/operations.ts';
import { PET_FILTERS } from '../../../src/domain/pet-filter.ts';
import { parsePets } from '../../../src/domain/pet-json.ts';
import { filterablePets, SAMPLE_FILTERS } from '../../../src/testing/fixtures/filters.ts';
import { addAll, samplePets } from '../../../src/testing/fixtures/pets.ts';
import type { Answer } from '../../support/client.ts';
import { STORAGES, sharedServer } from '../../support/server.ts';
import { JSON_TYPE, REX } from './paths.ts';

describe.each(STORAGES)('the API on %s', (storage) => {
  const server = sharedServer(storage);

  /** A database on a busy machine can be too slow, so that the server responds with 503. A client then retries. */
  async function post(body: string, headers = {}, key = server.key): Promise<Answer> {
    const options = { headers: { ...JSON_TYPE, ...headers }, body, key };
    const answer = await server.client.request('POST', '/v1/pets', options);
    return answer.status === 503 ? post(body, headers, key) : answer;
  }

  const createOnce = (key: string, body = REX, apiKey = server.key) =>
    post(body, { 'Idempotency-Key': key }, apiKey);
  const allIds = async () =>
    (await server.storage.pets.list({ limit: 1000 })).pets.map(({ id }) => Number(id));

  const createMany = (count: number) => addAll(server.storage.pets, samplePets(count));

  test('a page links to the next page as soon as there is one', async () => {
    const start = (await allIds()).at(-1) ?? 0;
    await createMany(9);
    const last = await server.client.get(`/v1/pets?limit=9&after=${start}`);
    expect(last.headers).not.toHaveProperty('link');
    await createMany(1);
    const fields = { 'If-None-Match': last.headers['etag'] ?? '' };
    const again = await server.client.get(`/v1/pets?limit=9&after=${start}`, fields);
    expect(again).toMatchObject({ status: 200, body: last.body });
    expect(again.headers['link']).toContain('next');
  });

  test('links lead through all pages of every combination of parameters', async () => {
    const start = BigInt((await allIds()).at(-1) ?? 0);
    await addAll(server.storage.pets, filterablePets(20));
    const { pets: all } = await server.storage.pets.list({ limit: 1000 });
    for (const filter of SAMPLE_FILTERS)
      for (const limit of [undefined, 1, 3])
        for (const after of [undefined, start + 7n]) {
          const given = Object.entries({ ...filter, limit, after }).filter(
            ([, value]) => value !== undefined,
          );
          const target = `/v1/pets?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
          const pages = (await server.client.pages(target)).map(parsePets);
          const expected = all.filter(
            (pet) =>
              pet.id > (after ?? 0n) &&
              PET_FILTERS.every((name) => [undefined, pet[name]].includes(filter[name])),
          );
          const size = limit ?? 20;
          const count = Math.max(1, Math.ceil(expected.length / size));
          expect([target, pages]).toEqual([
            target,
            Array.from({ length: count }, (_, page) => expected.slice(page * size, (page + 1) * size)),
          ]);
        }
  });

  test('each API key has its own idempotency keys, and a rotated key keeps those of its predecessor', async () => {
    const { apiKeys } = server.store;
    const [anna, bert] = [await apiKeys.create('Anna'), await apiKeys.create('Bert')];
    const first = await createOnce('shared', REX, anna.key);
    expect((await createOnce('shared', REX, bert.key)).body).not.toBe(first.body);
    const next = await apiKeys.rotate(anna.about.id, 60_000);
    const third = await apiKeys.rotate(next.about.id, 60_000);
    for (const { key } of [next, third, anna]) {
      const again = await createOnce('shared', REX, key);
      expect([again.body, again.headers['idempotency-replayed']]).toEqual([first.body, 'true']);
    }
  });

  test('a read-only key reads and lists, and every create with it is 403, before 415 and for replays too', async () => {
    const { key, about } = await server.store.apiKeys.create('reader', undefined, true);
    const id = Number((await createMany(1))[0]?.id);
    for (const path of ['/v1/pets', `/v1/pets/${id}`])
      expect((await server.client.request('GET', path, { key })).status).toBe(200);
    const headers = { 'Idempotency-Key': 'of-a-reader' };
    const rotated = await server.store.apiKeys.rotate(about.id, 60_000, undefined);
    const others = [
      await post(REX, {}, key),
      await post(REX, headers, key),
      await post(REX, {}, rotated.key),
    ];
    const wrong = { key, headers: { 'Content-Type': 'text/plain' }, body: '{' };
    for (const { method, path } of servedOperations().filter((each) => !METHODS[each.method].isRead))
      others.push(await server.client.request(method, path.replace('{petId}', String(id)), wrong));
    for (const answer of others) {
      expect(answer).toMatchObject({
        status: 403,
        headers: {
          'content-type': 'application/json',
          'www-authenticate': 'Bearer realm="animal-store", error="insufficient_scope"',
        },
      });
      expect(JSON.parse(answer.body)).toEqual({
        code: 'forbidden',
        message: expect.any(String),
        status: 403,
      });
    }
    expect((await server.client.request('POST', '/v1/nothing', { key })).status).toBe(404);
    expect((await server.client.request('DELETE', '/v1/pets', { key })).status).toBe(405);
    expect(await allIds()).toContain(id);
  });
});
