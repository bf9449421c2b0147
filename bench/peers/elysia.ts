/** Elysia as its documentation recommends: with validating schemas, a hook for the key, and `bun:sqlite`. */

import { Database } from 'bun:sqlite';
import { Elysia, t } from 'elysia';
import { readPetId } from './input.ts';
import { errorJson, parseExact, petJson, petsJson } from './json.ts';
import { address, endOnSignal, file } from './run.ts';
import { Store } from './store.ts';

const store = new Store(new Database(file, { create: false, readwrite: true, safeIntegers: true }));

const Status = t.Union([t.Literal('available'), t.Literal('pending'), t.Literal('sold')]);
const ListQuery = t.Object({
  limit: t.Integer({ minimum: 1, maximum: 100, default: 20 }),
  status: t.Optional(Status),
  after: t.Optional(t.String({ pattern: '^-?\\d{1,19}$' })),
});
const NewPet = t.Object({
  name: t.String({ minLength: 1, maxLength: 255 }),
  categoryId: t.Union([t.Integer(), t.BigInt()]),
  status: t.Optional(Status),
});

const JSON_TYPE = { 'Content-Type': 'application/json' };

function json(body: string, status = 200, headers: Record<string, string> = JSON_TYPE): Response {
  return new Response(body, { status, headers });
}

const app = new Elysia()
  .onError(({ code }) => {
    if (code === 'NOT_FOUND') return json(errorJson(404, 'not_found', 'there is no such path'), 404);
    if (code === 'VALIDATION' || code === 'PARSE') {
      return json(errorJson(400, 'invalid_request', 'the request is invalid'), 400);
    }
    return json(errorJson(500, 'internal_error', 'internal error'), 500);
  })
  .onBeforeHandle(({ headers }) => {
    if (store.allows(headers['authorization'])) return undefined;
    return json(errorJson(401, 'unauthorized', 'a valid API key is needed'), 401);
  })
  .get(
    '/v1/pets',
    ({ query: { limit, status, after } }) =>
      json(petsJson(store.list({ limit, status, after: after === undefined ? undefined : BigInt(after) }))),
    { query: ListQuery },
  )
  .get('/v1/pets/:petId', ({ params }) => {
    const id = readPetId(params.petId);
    const pet = id === undefined ? undefined : store.find(id);
    if (pet === undefined) return json(errorJson(404, 'not_found', 'there is no such pet'), 404);
    return json(petJson(pet));
  })
  .post(
    '/v1/pets',
    ({ body: { name, categoryId, status = 'available' } }) => {
      const pet = store.add(name, BigInt(categoryId), status);
      return json(petJson(pet), 201, { ...JSON_TYPE, Location: `/v1/pets/${pet.id}` });
    },
    { body: NewPet, parse: async ({ request }) => parseExact(await request.text()) },
  )
  .listen({ hostname: address.host, port: address.port });

console.log(`listening on http://127.0.0.1:${app.server?.port}/v1`);
endOnSignal(() => app.stop(), store);
