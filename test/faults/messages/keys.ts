/** Requests that send their key in an unusual way. */

import type { Random } from '../random.ts';
import { KEY_WAYS, type KeyWay } from './key-ways.ts';
import {
  anyKey,
  type Context,
  createOf,
  type Draft,
  draftOf,
  get,
  PROTECTED_NAME,
  type Request,
  utf8,
  writeRequest,
} from './request.ts';

/** The routes that every way is tried on. */
export const KEY_ROUTES: readonly ((context: Context) => Request)[] = [
  () => get('/v1/pets', undefined, [200]),
  () => get('/v1/pets/1', undefined, [200]),
  () => get('/v1/nothing', undefined, [404]),
  () => get('/nothing', undefined, [404]),
  ({ number }) => {
    const name = `message ${number}`;
    const pet = { name, categoryId: 7n, status: 'available' };
    return { ...createOf(JSON.stringify({ name, categoryId: 7 }), undefined, pet), expected: [201] };
  },
];

export function withKey(way: KeyWay, request: Request, key: string): Draft {
  const fields = way.fields(key);
  const names = new Set(fields.map(nameOf));
  request.fields = [...request.fields.filter((line) => !names.has(nameOf(line))), ...fields];
  request.target = way.target?.(request.target, key) ?? request.target;
  request.hasGoodKey = way.isGood !== false;
  if (way.isGood === undefined || !request.target.includes('/v1/')) request.expected = undefined;
  else if (!way.isGood) request.expected = [401, 400, 431];
  return draftOf(`key: ${way.name}`, request);
}

export function keyOf(random: Random, context: Context): Draft {
  const roll = random.below(10);
  const key = anyKey(context, random);
  if (roll === 0) return inBody(key, random);
  if (roll === 1) return damagedKey(key, random);
  return withKey(random.pick(KEY_WAYS), random.pick(KEY_ROUTES)(context), key);
}

/** RFC 6750 allows a key in a form; this API does not. */
function inBody(key: string, random: Random): Draft {
  const [type, body] = random.pick([
    ['application/x-www-form-urlencoded', `access_token=${encodeURIComponent(key)}`],
    ['application/json', JSON.stringify({ access_token: key, name: PROTECTED_NAME, categoryId: 1 })],
    ['application/json', JSON.stringify(key)],
    ['application/json', key],
  ] as const);
  const request = get('/v1/pets', undefined, [401]);
  request.method = 'POST';
  request.fields.push(`Content-Type: ${type}`);
  if (random.chance(0.5)) {
    request.body = `${body.length.toString(16)}\r\n${body}\r\n0\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    request.fields.push('Transfer-Encoding: chunked', 'Trailer: Authorization');
  } else {
    request.body = body;
    request.fields.push(`Content-Length: ${body.length}`);
  }
  return draftOf('key: in the body', request);
}

/** A key with one to three replaced characters is never valid. */
function damagedKey(key: string, random: Random): Draft {
  const characters = [...key];
  for (let times = random.between(1, 3); times > 0; times -= 1) {
    const at = random.below(characters.length);
    const other = String.fromCharCode(random.between(0x21, 0xff));
    characters[at] = other === key[at] ? '~~' : other;
  }
  const request = get('/v1/pets', undefined, [401, 400]);
  request.fields.push(
    `Authorization: Bearer ${random.chance(0.2) ? utf8(characters.join('')) : characters.join('')}`,
  );
  return draftOf('key: damaged', request, writeRequest(request));
}

function nameOf(line: string): string {
  return line.slice(0, line.indexOf(':')).trim().toLowerCase();
}
