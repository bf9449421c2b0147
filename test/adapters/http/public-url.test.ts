/** Tests the server behind a proxy that removes a path from requests, as `PUBLIC_URL` with a path requires. */

import { createServer, request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { pathPrefixOf, serverUrlOf } from '../../../src/adapters/http/docs/openapi.ts';
import { createHttpApp } from '../../../src/adapters/http/index.ts';
import { createAnimalStore } from '../../../src/library/index.ts';
import { withRequired } from '../../support/pets.ts';
import { startServer } from '../../support/server.ts';
import { listen } from '../../support/sockets.ts';

/** Starts a proxy that removes `prefix` from paths. Resolves with the origin of the proxy. */
async function startProxy(target: string, prefix: string): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const { method, url = '', headers } = incoming;
    if (!url.startsWith(`${prefix}/`)) {
      outgoing.writeHead(404).end('not below the prefix');
      return;
    }
    const forwarded = request(target + url.slice(prefix.length), { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  return listen(proxy);
}

function linkOf(response: Response, relation: string): string | undefined {
  const links = (response.headers.get('Link') ?? '').matchAll(/<([^>]*)>; rel="([\w-]+)"/g);
  const target = [...links].find(([, , found]) => found === relation)?.[1];
  return target === undefined ? undefined : new URL(target, response.url).href;
}

describe('behind a proxy that removes a path', () => {
  test.each(['https://pets.example/shop', 'https://pets.example//shop'])(
    'every link of a response works for the client: %s',
    async (publicUrl) => {
      const { origin, key } = await startServer('memory', { publicUrl });
      const proxy = await startProxy(origin, '/shop');
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
      for (let id = 1; id <= 5; id += 1) {
        const body = JSON.stringify(withRequired({ name: `Rex ${id}`, categoryId: 7 }));
        const created = await fetch(`${proxy}/shop/v1/pets`, { method: 'POST', headers, body });
        expect(created.headers.get('Location')).toBe(`/shop/v1/pets/${id}`);
        const location = new URL(created.headers.get('Location') ?? '', created.url);
        const found = await fetch(location, { headers });
        expect(await found.json()).toMatchObject({ id });
        expect(linkOf(found, 'successor-version')).toBe(`${proxy}/shop/v1/pets`);
        const docs = await fetch(linkOf(found, 'deprecation') ?? '');
        expect([docs.status, await docs.text()]).toEqual([200, expect.stringContaining('<html')]);
      }
      for (const _again of ['uncached', 'cached']) {
        const ids: number[] = [];
        let next: string | undefined = `${proxy}/shop/v1/pets?limit=2`;
        while (next !== undefined) {
          const page: Response = await fetch(next, { headers });
          ids.push(...((await page.json()) as { id: number }[]).map(({ id }) => id));
          next = linkOf(page, 'next');
        }
        expect(ids).toEqual([1, 2, 3, 4, 5]);
      }
      const link =
        '</shop/docs>; rel="deprecation"; type="text/html", </shop/v1/pets>; rel="successor-version"';
      for (const [method, status] of [
        ['GET', 404],
        ['OPTIONS', 204],
        ['DELETE', 405],
      ] as const) {
        const answer = await fetch(`${proxy}/shop/v1/pets/99`, { method, headers });
        expect([answer.status, answer.headers.get('Link')]).toEqual([status, link]);
      }
    },
  );
});

test('two apps with different public URLs serve one store, each with its own links', async () => {
  const store = await createAnimalStore({ database: 'memory:' });
  const { key } = await store.apiKeys.create('me');
  for (let id = 1; id <= 3; id += 1) await store.createPet(withRequired({ name: 'Rex', categoryId: 7n }));
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

test.each(['pets.example/shop', '/shop', 'ftp://pets.example', ''])(
  'the option publicUrl must be an http or https URL: %j is refused',
  async (publicUrl) => {
    const store = await createAnimalStore({ database: 'memory:' });
    expect(() => createHttpApp(store, { publicUrl })).toThrow('publicUrl: expected an http or https URL');
  },
);

test.each([
  ['https://example.org', 'https://example.org/v1', ''],
  ['http://example.org/v1', 'http://example.org/v1', ''],
  ['https://example.org/shop', 'https://example.org/shop/v1', '/shop'],
  ['https://example.org/shop/v1///', 'https://example.org/shop/v1', '/shop'],
  ['https://example.org//shop//pets/', 'https://example.org//shop//pets/v1', '/shop//pets'],
])('%s is the server %s with the prefix %j', (publicUrl, server, prefix) => {
  expect([serverUrlOf(publicUrl), pathPrefixOf(publicUrl)]).toEqual([server, prefix]);
});
