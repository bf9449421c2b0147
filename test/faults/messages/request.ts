/** A request before it is written out. Text stands for bytes: each character is one byte (latin1). */

import type { Keys } from '../keys.ts';
import type { Random } from '../random.ts';

/** A pet as the server must store and return it. */
export interface ExpectedPet {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: string;
}

export interface Request {
  method: string;
  target: string;
  /** Whole lines, without their ends. */
  fields: string[];
  body: string;
  hasGoodKey: boolean;
  /** The statuses that are right; `undefined` when any status of the API is. */
  expected: readonly number[] | undefined;
  /** What a 201 must return. */
  pet?: ExpectedPet;
  /** The `X-Request-Id` that the response must repeat. */
  requestId?: string;
}

/** What the generator of a message may use. */
export interface Context {
  readonly number: number;
  readonly keys: Keys;
}

/** A message, but for the way in which it is delivered. */
export interface Draft {
  /** What was done, in words. */
  readonly recipe: string;
  /** The requests that a correct server may see in it, in order. */
  readonly requests: readonly Request[];
  readonly text: string;
  /** Whether the server can tell where each request ends, or that a message is malformed: then it must respond. */
  readonly isComplete: boolean;
  /** Whether it must be delivered whole, because nobody could tell which pet it would leave behind. */
  readonly mustArrive?: boolean;
}

/** Pets with these ids exist before the first message is sent. */
export const FIRST_PETS = 20;

/** Each of their names has this in it. */
export const PROTECTED_NAME = 'seen-by-key-holders-only';

/** Marks a request that must never run. */
export const SMUGGLED = 'smuggled-request';

export function writeRequest(request: Request, version = 'HTTP/1.1', lineEnd = '\r\n'): string {
  const lines = [`${request.method} ${request.target} ${version}`, ...request.fields];
  return lines.map((line) => line + lineEnd).join('') + lineEnd + request.body;
}

export function draftOf(recipe: string, request: Request, text: string = writeRequest(request)): Draft {
  return { recipe, requests: [request], text, isComplete: true };
}

/** The bytes of a text in UTF-8, one character for each. */
export function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

export function get(target: string, key: string | undefined, expected: Request['expected']): Request {
  return bare('GET', target, key, expected);
}

/** A valid creation, whose name tells which message made it. */
export function create(context: Context, random: Random, name = `message ${context.number}`): Request {
  const categoryId = BigInt.asIntN(64, random.bigint(64));
  return createOf(`{"name":${JSON.stringify(name)},"categoryId":${categoryId}}`, anyKey(context, random), {
    name,
    categoryId,
    status: 'available',
  });
}

/** @param json any text; it is sent in UTF-8 */
export function createOf(json: string, key: string | undefined, pet?: ExpectedPet): Request {
  const request = bare('POST', '/v1/pets', key, key === undefined ? [401] : [pet === undefined ? 400 : 201]);
  request.body = utf8(json);
  request.fields.push('Content-Type: application/json', `Content-Length: ${request.body.length}`);
  if (pet !== undefined) request.pet = pet;
  return request;
}

export function anyKey({ keys }: Context, random: Random): string {
  return random.chance(0.5) ? keys.generated : keys.operator;
}

/** A valid request of any route, with a key where one is needed, and its status. */
export function anyRequest(context: Context, random: Random): Request {
  const key = anyKey(context, random);
  const [method, target, status] = random.pick(ROUTES);
  if (method === 'POST') return create(context, random);
  return bare(method, target, target.startsWith('/v1') ? key : undefined, [status]);
}

const ROUTES: readonly (readonly [method: string, target: string, status: number])[] = [
  ['POST', '/v1/pets', 201],
  ['POST', '/v1/pets', 201],
  ['POST', '/v1/pets', 201],
  ['GET', '/v1/pets', 200],
  ['GET', '/v1/pets?limit=1', 200],
  ['GET', '/v1/pets?limit=100&status=available', 200],
  ['GET', '/v1/pets?status=sold&after=3&unknown=%zz', 200],
  ['GET', '/v1/pets?limit=0', 400],
  ['GET', '/v1/pets?limit=101', 400],
  ['GET', '/v1/pets?limit=5&limit=5', 400],
  ['GET', '/v1/pets?after=9223372036854775808', 400],
  ['GET', '/v1/pets?status=', 400],
  ['GET', '/v1/pets/1', 200],
  ['GET', `/v1/pets/${FIRST_PETS}`, 200],
  ['GET', '/v1/pets/9223372036854775807', 404],
  ['GET', '/v1/pets/9223372036854775808', 404],
  ['GET', '/v1/pets/one', 404],
  ['GET', '/v1/pets/', 404],
  ['GET', '/v1/store/orders', 404],
  ['HEAD', '/v1/pets', 200],
  ['HEAD', '/v1/pets/1', 200],
  ['OPTIONS', '/v1/pets', 204],
  ['DELETE', '/v1/pets/1', 405],
  ['PUT', '/v1/pets', 405],
  ['GET', '/livez', 200],
  ['HEAD', '/livez', 200],
  ['GET', '/readyz', 200],
  ['GET', '/openapi.json', 200],
  ['GET', '/docs', 200],
  ['OPTIONS', '*', 204],
  ['GET', '/nothing', 404],
];

function bare(
  method: string,
  target: string,
  key: string | undefined,
  expected: Request['expected'],
): Request {
  const fields = ['Host: 127.0.0.1'];
  if (key !== undefined) fields.push(`Authorization: Bearer ${key}`);
  return { method, target, fields, body: '', hasGoodKey: key !== undefined, expected };
}
