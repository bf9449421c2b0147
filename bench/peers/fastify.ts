/**
 * Serves pets with Fastify 5 on SQLite or PostgreSQL, as the documentation of Fastify recommends: with schemas for validation,
 * compiled serializers, and a hook that checks the key. The methods of the SQLite store are synchronous.
 */

import Fastify, { type FastifyError, type FastifyReply } from 'fastify';
import { INT64_MAX, INT64_MIN, parseExact, readPetId } from './json.ts';
import { PostgresStore } from './postgres-store.ts';
import { address, announce, endOnSignal, openStore } from './run.ts';

interface ListQuery {
  limit: number;
  status?: string;
  after?: string;
}

interface NewPet {
  name: string;
  categoryId: number | bigint;
  status: string;
}

const status = { type: 'string', enum: ['available', 'pending', 'sold'] };
const pet = {
  type: 'object',
  required: ['id', 'name', 'categoryId', 'status'],
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status: { type: 'string' },
  },
};
const error = {
  type: 'object',
  properties: { code: { type: 'string' }, message: { type: 'string' }, status: { type: 'integer' } },
};
const query = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    status,
    after: { type: 'string', pattern: '^-?\\d{1,19}$' },
  },
};
const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 255 },
    categoryId: { int64: true },
    status: { ...status, default: 'available' },
  },
};

const listOptions = {
  schema: { querystring: query, response: { 200: { type: 'array', items: pet }, '4xx': error } },
};
const getOptions = { schema: { response: { 200: pet, '4xx': error } } };
const createOptions = {
  schema: { body: newPet, response: { 201: pet, '4xx': error } },
};

const { default: _, ...anyStatus } = newPet.properties.status;
const changeOptions = {
  schema: {
    body: { type: 'object', properties: { ...newPet.properties, status: anyStatus } },
    response: { 200: pet, '4xx': error },
  },
};

const app = Fastify({
  ajv: { customOptions: { keywords: [{ keyword: 'int64', validate: isInt64 }] } },
});

app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
  try {
    done(null, parseExact(text as string));
  } catch (cause) {
    done(Object.assign(new Error('the body is not JSON', { cause }), { statusCode: 400 }));
  }
});

app.setErrorHandler((fault: FastifyError, _request, reply) => {
  const code = fault.statusCode ?? 500;
  const kind = code < 500 ? 'invalid_request' : 'internal_error';
  reply.code(code).send({ code: kind, message: code < 500 ? fault.message : 'internal error', status: code });
});

app.setNotFoundHandler((_request, reply) => {
  reply.code(404).send({ code: 'not_found', message: 'there is no such path', status: 404 });
});

function refuseKey(reply: FastifyReply): void {
  reply.code(401).send({ code: 'unauthorized', message: 'a valid API key is needed', status: 401 });
}

function notFound(reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ code: 'not_found', message: 'there is no such pet', status: 404 });
}

function isInt64(_schema: unknown, value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  return typeof value === 'bigint' && value >= INT64_MIN && value <= INT64_MAX;
}

function open() {
  const url = process.env['DATABASE_URL'] ?? '';
  if (url.startsWith('postgres:')) return new PostgresStore(url);
  return openStore();
}
const store = open();

function whenDone<T, R>(result: T | Promise<T>, use: (value: T) => R): R | Promise<R> {
  return result instanceof Promise ? result.then(use) : use(result);
}

app.addHook('onRequest', (request, reply, done) => {
  const isAllowed = store.allows(request.headers.authorization);
  if (isAllowed === true) return done();
  whenDone(isAllowed, (allowed) => (allowed ? done() : refuseKey(reply)));
});

app.get<{ Querystring: ListQuery }>('/v1/pets', listOptions, (request, reply) => {
  const { limit, status, after } = request.query;
  const query = { limit, status, after: after === undefined ? undefined : BigInt(after) };
  return whenDone(store.list(query), (pets) => reply.send(pets));
});

app.get<{ Params: { petId: string } }>('/v1/pets/:petId', getOptions, (request, reply) => {
  const id = readPetId(request.params.petId);
  const found = id === undefined ? undefined : store.find(id);
  return whenDone(found, (pet) => (pet === undefined ? notFound(reply) : reply.send(pet)));
});

app.post<{ Body: NewPet }>('/v1/pets', createOptions, (request, reply) => {
  const { name, categoryId, status } = request.body;
  return whenDone(store.add(name, BigInt(categoryId), status), (pet) =>
    reply.code(201).header('Location', `/v1/pets/${pet.id}`).send(pet),
  );
});

app.patch<{ Body: Partial<NewPet>; Params: { petId: string } }>(
  '/v1/pets/:petId',
  changeOptions,
  (request, reply) => {
    const id = readPetId(request.params.petId);
    const [, version] = /^"(\d+)"$/.exec(request.headers['if-match'] ?? '') ?? [];
    const { name, categoryId, status } = request.body;
    const change = { name, status, categoryId: categoryId === undefined ? undefined : BigInt(categoryId) };
    const changed = id === undefined ? undefined : store.change(id, change, version);
    return whenDone(changed, (pet) =>
      pet === undefined
        ? reply.code(412).send({ code: 'precondition_failed', message: 'another version', status: 412 })
        : reply.header('ETag', `"${pet.version}"`).send(pet),
    );
  },
);

await app.listen(address);
announce(app.server);
endOnSignal(async () => {
  await app.close();
  await store.close();
});
