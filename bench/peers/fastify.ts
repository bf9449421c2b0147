/** Fastify 5 as its documentation recommends: with validating schemas, compiled serializers, and a hook for the key. */

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
import { address, announce, endOnSignal, openStore } from './run.ts';

const store = openStore();

app.addHook('onRequest', (request, reply, done) => {
  if (store.allows(request.headers.authorization)) done();
  else refuseKey(reply);
});

app.get<{ Querystring: ListQuery }>('/v1/pets', listOptions, (request, reply) => {
  const { limit, status, after } = request.query;
  reply.send(store.list({ limit, status, after: after === undefined ? undefined : BigInt(after) }));
});

app.get<{ Params: { petId: string } }>('/v1/pets/:petId', getOptions, (request, reply) => {
  const id = readPetId(request.params.petId);
  const found = id === undefined ? undefined : store.find(id);
  return found === undefined ? notFound(reply) : reply.send(found);
});

app.post<{ Body: NewPet }>('/v1/pets', createOptions, (request, reply) => {
  const { name, categoryId, status } = request.body;
  const created = store.add(name, BigInt(categoryId), status);
  reply.code(201).header('Location', `/v1/pets/${created.id}`).send(created);
});

await app.listen(address);
announce(app.server);
endOnSignal(() => app.close(), store);
