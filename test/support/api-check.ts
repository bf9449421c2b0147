/** Checks the API where another program serves it: on another runtime, or mounted in another app. */

import { expect } from 'vitest';
import { newPetJson } from '../../src/domain/pet-json.ts';
import { samplePet } from '../../src/testing/fixtures/pets.ts';

type Ask = (target: string, init?: RequestInit) => Promise<Response>;

const PET = samplePet('Rex', 2n ** 63n - 1n);

/** Checks requests of each kind, many of them at the same time. The store must be empty. */
export async function checkApi(ask: Ask, key: string): Promise<void> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const body = newPetJson(PET);
  const pet = (id: number) => `{"id":${id},${body.slice(1)}`;
  const created = await ask('/v1/pets', { method: 'POST', headers, body });
  expect([created.status, await created.text()]).toEqual([201, pet(1)]);
  expect(created.headers.get('Location')).toBe('/v1/pets/1');
  const all = await Promise.all(
    Array.from({ length: 50 }, () => ask('/v1/pets', { method: 'POST', headers, body })),
  );
  expect([...new Set(all.map(({ status }) => status))]).toEqual([201]);
  const once = { ...headers, 'Idempotency-Key': 'once' };
  const first = await ask('/v1/pets', { method: 'POST', headers: once, body });
  const again = await ask('/v1/pets', { method: 'POST', headers: once, body });
  expect([again.headers.get('Idempotency-Replayed'), await again.text()]).toEqual([
    'true',
    await first.text(),
  ]);
  const list = await ask('/v1/pets?limit=2', { headers });
  expect([list.status, await list.text()]).toEqual([200, `[${pet(1)},${pet(2)}]`]);
  expect(list.headers.get('Link')).toBe('</v1/pets?limit=2&after=2>; rel="next"');
  const etag = list.headers.get('ETag') ?? '';
  const cached = await ask('/v1/pets?limit=2', { headers: { ...headers, 'If-None-Match': etag } });
  expect(cached.status).toBe(304);
  const head = await ask('/v1/pets/1', { method: 'HEAD', headers });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect((await ask('/v1/pets', { method: 'OPTIONS', headers })).status).toBe(204);
  for (const [status, target, init] of [
    [401, '/v1/pets', {}],
    [404, '/v1/pets/1000', { headers }],
    [405, '/v1/pets', { method: 'DELETE', headers }],
    [400, '/v1/pets', { method: 'POST', headers, body: '{' }],
    [413, '/v1/pets', { method: 'POST', headers, body: ' '.repeat(65_537) }],
    [415, '/v1/pets', { method: 'POST', headers: { ...headers, 'Content-Type': 'text/plain' }, body }],
  ] as const) {
    const response = await ask(target, init);
    expect([response.status, ((await response.json()) as { status: number }).status]).toEqual([
      status,
      status,
    ]);
  }
}
