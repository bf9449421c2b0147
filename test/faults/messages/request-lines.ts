/** Unusual and invalid request lines: method, target, version, and the separators. */

import { METHODS } from 'node:http';
import type { Random } from '../random.ts';
import {
  anyKey,
  anyRequest,
  type Context,
  create,
  type Draft,
  draftOf,
  type Request,
  writeRequest,
} from './request.ts';
import { oddTarget } from './targets.ts';

export function requestLine(random: Random, context: Context): Draft {
  const request = random.chance(0.2) ? create(context, random) : anyRequest(context, random);
  if (random.chance(0.25)) {
    withoutKey(request);
    if (request.target.startsWith('/v1')) request.expected = [401];
  }
  const change = random.pick([method, target, target, target, version, separator, start]);
  return change(request, random, context);
}

const ODD_METHODS = [
  ...(
    'get|Get|post|BREW|PRI|GETT|GE|G||*|GET/|"GET"|GET\t|P\u00d6ST|CONNECTED|G\0T|GET,POST|__proto__|' +
    'constructor'
  ).split('|'),
  'A'.repeat(300),
  'A'.repeat(20_000),
];

/** Keeps the body of a create: a method that ignores the body must not read it as the next request. */
function method(request: Request, random: Random): Draft {
  const known = METHODS.filter((name) => name !== 'CONNECT');
  const given = random.chance(0.5) ? random.pick(known) : random.pick(ODD_METHODS);
  request.expected = known.includes(given) ? undefined : given.length > 16_000 ? [400, 431] : [400];
  request.method = given;
  return draftOf(`method ${given.slice(0, 20)}`, request);
}

function target(request: Request, random: Random, context: Context): Draft {
  request.target = oddTarget(request.target, random);
  request.expected = undefined;
  const length = request.target.length;
  if (length > 20_000) request.expected = [431];
  // Whether a key is required depends only on the path of the target. A key is sent in any case.
  if (request.hasGoodKey && random.chance(0.3)) {
    withoutKey(request);
    request.fields.push(`X-Api-Key: ${anyKey(context, random)}`);
  }
  return draftOf(`target ${JSON.stringify(request.target.slice(0, 60))}`, request);
}

const VERSIONS = (
  'HTTP/1.0|HTTP/1.2|HTTP/1.9|HTTP/0.9|HTTP/2.0|HTTP/3.0|HTTP/2|HTTP/1|HTTP/1.|HTTP/.1|HTTP/1.10|' +
  'HTTP/01.1|HTTP/1.1.1|HTTP/-1.1|HTTP/1,1|HTTP 1.1|http/1.1|HTTPS/1.1|HTP/1.1|ICE/1.0|RTSP/1.0|FTP/1.1|' +
  'HTTP/1.1 |HTTP/1.1 x|HTTP/1.1\t|| |HTTP/\u00b9.1|HTTP/1.1\0'
).split('|');

/** Only HTTP/1.0 and HTTP/1.1 are always served. The parser of Node.js accepts RTSP/1.0 as HTTP/1.0. */
function version(request: Request, random: Random): Draft {
  const given = random.pick(VERSIONS);
  const isServed = /^(HTTP\/\d\.\d|RTSP\/1\.0)$/.test(given.trimEnd());
  if (!isServed) request.expected = [400];
  else if (given !== 'HTTP/1.0') request.expected = undefined;
  return draftOf(`version ${JSON.stringify(given)}`, request, writeRequest(request, given));
}

const SEPARATORS = ['', '  ', '\t', ' \t', '\x0b', '\xa0', '\0', '\r', '\n', '\r\n', '%20', '+'];

function separator(request: Request, random: Random): Draft {
  const lines = writeRequest(request).split('\r\n');
  const [verb = '', path = '', protocol = ''] = (lines[0] ?? '').split(' ');
  const [first, second] = random.chance(0.5)
    ? [random.pick(SEPARATORS), ' ']
    : [' ', random.pick(SEPARATORS)];
  lines[0] = verb + first + path + second + protocol;
  request.expected = undefined;
  return draftOf(`separators ${JSON.stringify([first, second])}`, request, lines.join('\r\n'));
}

const STARTS = [
  ...'\r\n|\r\n\r\n|\n|\r| |\t|\0|\r\n \r\n|\xef\xbb\xbf|: x\r\n'.split('|'),
  '\r\n'.repeat(500),
];

/** Empty lines before a request are ignored (RFC 9112, section 2.2). */
function start(request: Request, random: Random): Draft {
  const before = random.pick(STARTS);
  if (!/^(\r\n)+$/.test(before)) request.expected = undefined;
  return draftOf(
    `starts with ${JSON.stringify(before.slice(0, 10))}`,
    request,
    before + writeRequest(request),
  );
}

function withoutKey(request: Request): void {
  request.fields = request.fields.filter((line) => !line.startsWith('Authorization:'));
  request.hasGoodKey = false;
}
