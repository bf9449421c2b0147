/**
 * Several requests in one segment. Each gets its own response, in order, and none uses the key of another. A server closes
 * the connection after the sixteenth response of a pipeline.
 */

import type { Random } from '../random.ts';
import { anyRequest, type Context, create, type Draft, get, type Request, writeRequest } from './request.ts';

export function pipeline(random: Random, context: Context): Draft {
  const count = random.chance(0.1) ? random.between(9, 24) : random.between(2, 8);
  const requests = Array.from({ length: count }, (_, index): Request => {
    const roll = random.below(10);
    if (roll < 2) return get('/v1/pets', undefined, [401]);
    const request = anyRequest(context, random);
    const isCreate = roll < 6 || request.method === 'POST';
    return isCreate ? create(context, random, `message ${context.number}.${index}`) : request;
  });
  return random.pick([whole, whole, closing, broken])(requests, random);
}

function whole(requests: readonly Request[]): Draft {
  return draft('pipeline', requests, requests.map((request) => writeRequest(request)).join(''));
}

/** The server ignores what follows a request that closes the connection. A client that goes on sending can lose responses. */
function closing(requests: readonly Request[], random: Random): Draft {
  const last = random.below(requests.length);
  requests[last]?.fields.push('Connection: close');
  const text = requests.map((request) => writeRequest(request)).join('');
  const isComplete = last === requests.length - 1;
  return { ...draft('pipeline that closes early', requests.slice(0, last + 1), text), isComplete };
}

/** Valid requests get their responses even if garbage follows. */
function broken(requests: readonly Request[], random: Random): Draft {
  const garbage = random.pick([
    'garbage\r\n\r\n',
    '\0\0\0\0',
    'GET / HTTP/9.9\r\n\r\n',
    `GET /${'x'.repeat(20_000)}`,
  ]);
  const text = requests.map((request) => writeRequest(request)).join('') + garbage;
  return draft('pipeline that ends in garbage', requests, text);
}

function draft(recipe: string, requests: readonly Request[], text: string): Draft {
  return { recipe: `${recipe} of ${requests.length}`, requests, text, isComplete: true };
}
