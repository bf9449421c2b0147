/** What the Fastify peers for SQLite and PostgreSQL share: schemas, the parser of bodies, and errors. */

import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type RouteShorthandOptions,
} from 'fastify';
import { INT64_MAX, INT64_MIN } from './input.ts';
import { parseExact } from './json.ts';

export interface ListQuery {
  limit: number;
  status?: string;
  after?: string;
}

export interface NewPet {
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

/** The options of each route. */
export const listOptions: RouteShorthandOptions = {
  schema: { querystring: query, response: { 200: { type: 'array', items: pet }, '4xx': error } },
};
export const getOptions: RouteShorthandOptions = { schema: { response: { 200: pet, '4xx': error } } };
export const createOptions: RouteShorthandOptions = {
  schema: { body: newPet, response: { 201: pet, '4xx': error } },
};

export const app: FastifyInstance = Fastify({
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

export function refuseKey(reply: FastifyReply): void {
  reply.code(401).send({ code: 'unauthorized', message: 'a valid API key is needed', status: 401 });
}

export function notFound(reply: FastifyReply): FastifyReply {
  return reply.code(404).send({ code: 'not_found', message: 'there is no such pet', status: 404 });
}

function isInt64(_schema: unknown, value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  return typeof value === 'bigint' && value >= INT64_MIN && value <= INT64_MAX;
}
