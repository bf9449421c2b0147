/** The promises of the API about stored pets and keys, on every storage. The contract suites test the rest of a storage. */

import { describe, expect, test } from 'vitest';
import { matches } from '../../../src/domain/pet-filter.ts';
import { parsePets } from '../../../src/domain/pet-json.ts';
import { filterablePets, SAMPLE_FILTERS } from '../../../src/testing/fixtures/filters.ts';
import { addAll, samplePets } from '../../../src/testing/fixtures/pets.ts';
import type { Answer } from '../../support/client.ts';
import { STORAGES, sharedServer } from '../../support/server.ts';
import { JSON_TYPE, REX } from './paths.ts';

describe.each(STORAGES)('the API on %s', (storage) => {
  const server = sharedServer(storage);

  /** A database on a busy machine can be too slow, so that the server responds with 503. A client then retries. */
  async function createOnce(key: string): Promise<Answer> {
    const headers = { ...JSON_TYPE, 'Idempotency-Key': 'shared' };
    const answer = await server.client.request('POST', '/v1/pets', { headers, body: REX, key });
    return answer.status === 503 ? createOnce(key) : answer;
  }

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
          const expected = all.filter((pet) => pet.id > (after ?? 0n) && matches(pet, filter));
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
    const first = await createOnce(anna.key);
    expect((await createOnce(bert.key)).body).not.toBe(first.body);
    const next = await apiKeys.rotate(anna.about.id, 60_000);
    const third = await apiKeys.rotate(next.about.id, 60_000);
    for (const { key } of [next, third, anna]) {
      const again = await createOnce(key);
      expect([again.body, again.headers['idempotency-replayed']]).toEqual([first.body, 'true']);
    }
  });
});
