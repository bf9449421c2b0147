/** The Fastify peer on PostgreSQL, as the documentation of `pg` recommends: a pool, and named prepared statements. */

import {
  app,
  createOptions,
  getOptions,
  type ListQuery,
  listOptions,
  type NewPet,
  notFound,
  refuseKey,
} from './fastify-app.ts';
import { readPetId } from './input.ts';
import { PostgresStore } from './postgres-store.ts';
import { address, announce, endOnSignal } from './run.ts';

const store = new PostgresStore(process.env['DATABASE_URL'] ?? '');

// Without `async`, the hook of a cached key costs no turn of the microtask queue.
app.addHook('onRequest', (request, reply, done) => {
  const { authorization } = request.headers;
  if (store.hasCached(authorization)) return done();
  store.allows(authorization).then((isAllowed) => (isAllowed ? done() : refuseKey(reply)), done);
});

app.get<{ Querystring: ListQuery }>('/v1/pets', listOptions, async (request) => {
  const { limit, status, after } = request.query;
  return store.list({ limit, status, after: after === undefined ? undefined : BigInt(after) });
});

app.get<{ Params: { petId: string } }>('/v1/pets/:petId', getOptions, async (request, reply) => {
  const id = readPetId(request.params.petId);
  const found = id === undefined ? undefined : await store.find(id);
  return found ?? notFound(reply);
});

app.post<{ Body: NewPet }>('/v1/pets', createOptions, async (request, reply) => {
  const { name, categoryId, status } = request.body;
  const created = await store.add(name, BigInt(categoryId), status);
  reply.code(201).header('Location', `/v1/pets/${created.id}`);
  return created;
});

await app.listen(address);
announce(app.server);
endOnSignal(async () => {
  await app.close();
  await store.close();
});
