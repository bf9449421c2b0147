/** Requests for another protocol, and other protocols: CONNECT, Upgrade, Expect, TLS, HTTP/2, and noise. */

import type { Random } from '../random.ts';
import {
  anyKey,
  anyRequest,
  type Context,
  create,
  type Draft,
  draftOf,
  get,
  writeRequest,
} from './request.ts';

export function otherProtocol(random: Random, context: Context): Draft {
  return random.pick([connect, upgrade, expect, expectAndWait, noise])(random, context);
}

const AUTHORITIES = 'example.org:443 127.0.0.1:22 [::1]:80 /v1/pets * http://x/ : x:99999'.split(' ');

function connect(random: Random, context: Context): Draft {
  const key = random.chance(0.5) ? anyKey(context, random) : undefined;
  const request = { ...get(random.pick(AUTHORITIES), key, [405, 400, 401]), method: 'CONNECT' };
  if (random.chance(0.3))
    request.fields.push(
      random.pick(['Content-Length: 10', 'Transfer-Encoding: chunked', 'Expect: 100-continue']),
    );
  const tunnelled = random.pick(['', 'SSH-2.0-x\r\n', '\x16\x03\x01', random.bytes(100)]);
  return draftOf('CONNECT', request, writeRequest(request) + tunnelled);
}

/** A server may ignore an upgrade (RFC 9110, section 7.8); the response is the usual one. */
function upgrade(random: Random, context: Context): Draft {
  const request = random.chance(0.3) ? create(context, random) : anyRequest(context, random);
  request.fields.push(
    `Upgrade: ${random.pick(['websocket', 'h2c', 'HTTP/2.0', 'TLS/1.0', '', ',', 'websocket, h2c', '\xff'])}`,
    `Connection: ${random.pick(['Upgrade', 'upgrade, HTTP2-Settings', 'close', 'x'])}`,
  );
  return draftOf('Upgrade', request);
}

function expect(random: Random, context: Context): Draft {
  const request = random.chance(0.6) ? create(context, random) : anyRequest(context, random);
  const value = random.pick(['100-continue', '100-Continue', '200-ok', '', '100', '\xff', 'x'.repeat(1000)]);
  request.fields.push(`Expect: ${value}`);
  if (value.toLowerCase() !== '100-continue') request.expected = undefined;
  return draftOf(`Expect: ${value.slice(0, 20)}`, request);
}

/** The client does not send the body of a refused request. */
function expectAndWait(random: Random, context: Context): Draft {
  const key = random.chance(0.5) ? anyKey(context, random) : undefined;
  const request = {
    ...get(random.pick(['/v1/pets', '/v1/pets/1', '/nothing']), key, undefined),
    method: 'POST',
  };
  request.fields.push(`Content-Length: ${random.pick([100_000, 10])}`, 'Expect: 100-continue');
  if (random.chance(0.5)) request.fields.push('Content-Type: application/json');
  return { ...draftOf('Expect without the body', request), isComplete: false };
}

const NOISE = [
  ...(
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0|\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03|' +
    'SSH-2.0-OpenSSH_9.6\r\n|\r\n|EHLO x\r\n|*1\r\n$4\r\nPING\r\n|{"jsonrpc":"2.0"}\n|' +
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n|GET|G|\x05\x01\0|PROXY TCP4 1.1.1.1 1.1.1.1 1 1\r\n|' +
    '\xef\xbb\xbfGET / HTTP/1.1\r\n\r\n'
  ).split('|'),
  '\0'.repeat(5000),
  '\r\n'.repeat(2000),
  'A'.repeat(70_000),
];

function noise(random: Random): Draft {
  const text = random.chance(0.4)
    ? random.pick(NOISE)
    : random.bytes(random.pick([1, 10, 100, 1000, 20_000]));
  const request = { ...get('', undefined, [400, 431]), method: '' };
  return { ...draftOf(`noise ${JSON.stringify(text.slice(0, 20))}`, request, text), isComplete: false };
}
