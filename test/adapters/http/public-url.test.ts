/** The links of a server behind a proxy that removes a path from requests, as `PUBLIC_URL` with a path requires. */

import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { pathPrefixOf } from '../../../src/adapters/http/docs/openapi.ts';
import { createHttpApp } from '../../../src/adapters/http/index.ts';
import { createAnimalStore } from '../../../src/library/index.ts';
import { REX } from '../../support/pets.ts';
import { listen } from '../../support/sockets.ts';

test('two apps with different public URLs serve one store, each with its own links', async () => {
  const store = await createAnimalStore({ database: 'memory:' });
  const { key } = await store.apiKeys.create('me');
  for (let id = 1; id <= 3; id += 1) await store.createPet(REX);
  const listOf = async (publicUrl?: string) => {
    const origin = await listen(createServer(createHttpApp(store, { publicUrl }).callback()));
    const url = `${origin}/v1/pets?limit=2`;
    return async () => {
      const { headers } = await fetch(url, { headers: { Authorization: `Bearer ${key}` } });
      return [headers.get('Link'), headers.get('ETag')];
    };
  };
  const [plain, shop] = [await listOf(), await listOf('https://pets.example/shop')];
  const next = 'v1/pets?limit=2&after=2>; rel="next"';
  const tags = new Set<string | null | undefined>();
  for (let round = 1; round <= 3; round += 1) {
    const [first, second] = [await plain(), await shop()];
    expect([first[0], second[0]]).toEqual([`</${next}`, `</shop/${next}`]);
    tags.add(first[1]).add(second[1]);
  }
  expect(tags.size).toBe(2);
});

test('a link never starts with two slashes, which would lead to another host', () => {
  const urls = [
    'https://example.org/v1',
    'https://example.org/shop/v1///',
    'https://example.org//shop//pets/',
  ];
  expect(urls.map(pathPrefixOf)).toEqual(['', '/shop', '/shop//pets']);
});
