/** Uses the whole API with a typed client written by other people: `node story.ts BASE_URL KEY`. */

import assert from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/schema.d.ts';

const [baseUrl = '', key = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const stranger = createClient<paths>({
  baseUrl,
  headers: { Authorization: 'Bearer nobody-was-ever-given-this-key' },
});

type Pet = components['schemas']['Pet'];

const ids: number[] = [];
for (const [index, status] of (['available', 'pending', 'sold', undefined] as const).entries()) {
  const name = `pet ${index} 🐈`;
  const { data, response } = await client.POST('/pets', {
    body: { name, categoryId: index - 1, ...(status && { status }) },
  });
  assert.equal(response.status, 201);
  assert.ok(data);
  const expected: Pet = { id: data.id, name, categoryId: index - 1, status: status ?? 'available' };
  assert.deepEqual(data, expected);
  assert.equal(response.headers.get('Location'), `/v1/pets/${data.id}`);
  ids.push(data.id);
}

const seen: number[] = [];
let after: number | undefined;
do {
  const { data, response } = await client.GET('/pets', {
    params: { query: { limit: 3, ...(after !== undefined && { after }) } },
  });
  assert.ok(data);
  seen.push(...data.map(({ id }) => id));
  assert.ok(seen.length <= ids.length, 'the pages do not end');
  after = response.headers.get('Link') === null ? undefined : data.at(-1)?.id;
} while (after !== undefined);
assert.deepEqual(seen, ids);

const available = await client.GET('/pets', { params: { query: { status: 'available' } } });
assert.deepEqual(
  available.data?.map(({ id }) => id),
  [ids[0], ids[3]],
);

const found = await client.GET('/pets/{petId}', { params: { path: { petId: ids[1] ?? 0 } } });
assert.equal(found.data?.status, 'pending');
assert.equal(found.response.headers.get('Sunset'), 'Thu, 05 Dec 2030 00:00:00 GMT');
const etag = found.response.headers.get('ETag') ?? '';
const unchanged = await client.GET('/pets/{petId}', {
  params: { path: { petId: ids[1] ?? 0 } },
  headers: { 'If-None-Match': etag },
});
assert.equal(unchanged.response.status, 304);

const missing = await client.GET('/pets/{petId}', { params: { path: { petId: 987_654_321 } } });
assert.equal(missing.error?.code, 'not_found');
assert.equal(missing.error?.status, 404);

const refused = await stranger.GET('/pets');
assert.equal(refused.error?.code, 'unauthorized');
assert.equal(refused.response.status, 401);
