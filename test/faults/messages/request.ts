/** A request before it is serialized. In all texts, each character represents one byte (latin1). */

import { formatApiKey } from '../../../src/domain/api-key.ts';
import { wholeJson } from '../../support/pets.ts';
import { Random } from '../random.ts';

/** The pet that the server must store and return. */
export interface ExpectedPet {
  readonly name: string;
  readonly categoryId: bigint;
  readonly status: string;
}

export interface Request {
  method: string;
  target: string;
  /** Complete lines without line breaks. */
  fields: string[];
  body: string;
  hasGoodKey: boolean;
  /** The correct statuses; `undefined` when any status of the API is correct. */
  expected: readonly number[] | undefined;
  /** The pet that a 201 must return. */
  pet?: ExpectedPet;
}

/** The API keys of a run. They are derived from the seed, so that a run can send the same bytes again. */
export interface Keys {
  /** In the format of `keys create`. */
  readonly generated: string;
  /** In another format, as an operator may choose one. */
  readonly operator: string;
}

const VISIBLE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=!#$%&()*:;<>?@[]^{|}';

export function keysOf(seed: number): Keys {
  const random = new Random(seed, 0x6b65_7973);
  const generated = formatApiKey(Uint8Array.from({ length: 32 }, () => random.below(256)));
  return { generated, operator: `canary-${random.text(VISIBLE, 40)}` };
}

/** The input of a message generator. */
export interface Context {
  readonly number: number;
  readonly keys: Keys;
}

/** A message without its delivery. */
export interface Draft {
  /** A description of the message. */
  readonly recipe: string;
  /** The requests that a correct server may find in the message, in order. */
  readonly requests: readonly Request[];
  readonly text: string;
  /** Whether the server can find the end of each request or detect a malformed message, so that it must respond. */
  readonly isComplete: boolean;
}

/** The maximum size of a body, in bytes. */
export const BODY_LIMIT: number = 16 * 1024;

/** Pets with these ids exist before the first message is sent. */
export const FIRST_PETS = 20;

/** The name of each of these pets contains this text. */
export const PROTECTED_NAME = 'seen-by-key-holders-only';

/** Marks a request that must never run. It is short, because a request id with a number has at most 15 characters. */
export const SMUGGLED = 'evil';

export function writeRequest(request: Request, version = 'HTTP/1.1'): string {
  const lines = [`${request.method} ${request.target} ${version}`, ...request.fields];
  return `${lines.join('\r\n')}\r\n\r\n${request.body}`;
}

export function draftOf(recipe: string, request: Request, text: string = writeRequest(request)): Draft {
  return { recipe, requests: [request], text, isComplete: true };
}

/** The UTF-8 bytes of a text, one character per byte. */
function utf8(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** A valid create. The name contains the number of the message. */
export function create(context: Context, random: Random, name = `message ${context.number}`): Request {
  const pet = { name, categoryId: BigInt.asIntN(64, random.bigint(64)), status: 'available' };
  const request = { ...bare('POST', '/v1/pets', anyKey(context, random), [201]), pet };
  request.body = utf8(wholeJson(`{"name":${JSON.stringify(name)},"categoryId":${pet.categoryId}}`));
  request.fields.push('Content-Type: application/json', `Content-Length: ${request.body.length}`);
  return request;
}

export function anyKey({ keys }: Context, random: Random): string {
  return random.chance(0.5) ? keys.generated : keys.operator;
}

/** A valid request to any route, with a key where one is required, and its status. */
export function anyRequest(context: Context, random: Random): Request {
  const key = anyKey(context, random);
  const [method = '', target = '', status] = random.pick(ROUTES).split(' ');
  if (method === 'POST') return create(context, random);
  return bare(method, target, target.startsWith('/v1') ? key : undefined, [Number(status)]);
}

/** Each with the method, the target and the status. */
const ROUTES = (
  'POST /v1/pets 201|POST /v1/pets 201|POST /v1/pets 201|GET /v1/pets 200|GET /v1/pets?limit=1 200|' +
  'GET /v1/pets?limit=100&status=available 200|GET /v1/pets?status=sold&after=3&unknown=%zz 200|' +
  'GET /v1/pets?limit=0 400|GET /v1/pets?limit=101 400|GET /v1/pets?limit=5&limit=5 400|' +
  'GET /v1/pets?after=9223372036854775808 400|GET /v1/pets?status= 400|GET /v1/pets/1 200|' +
  'GET /v1/pets/20 200|GET /v1/pets/9223372036854775807 404|GET /v1/pets/9223372036854775808 404|' +
  'GET /v1/pets/one 404|GET /v1/pets/ 404|GET /v1/store/orders 404|HEAD /v1/pets 200|' +
  'HEAD /v1/pets/1 200|OPTIONS /v1/pets 204|DELETE /v1/pets 405|PUT /v1/pets 405|GET /livez 200|' +
  'HEAD /livez 200|GET /readyz 200|GET /openapi.json 200|GET /docs 200|OPTIONS * 204|GET /nothing 404'
).split('|');

export function get(target: string, key: string | undefined, expected: Request['expected']): Request {
  return bare('GET', target, key, expected);
}

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
