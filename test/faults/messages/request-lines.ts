/** Unusual and invalid request lines: method, target, version, and the separators. Also bytes that are no request. */

import { METHODS } from 'node:http';
import type { Random } from '../random.ts';
import {
  anyKey,
  anyRequest,
  type Context,
  type Draft,
  draftOf,
  get,
  type Request,
  writeRequest,
} from './request.ts';

export function requestLine(random: Random, context: Context): Draft {
  const request = anyRequest(context, random);
  if (random.chance(0.25)) {
    withoutKey(request);
    if (request.target.startsWith('/v1')) request.expected = [401];
  }
  return random.pick([method, target, target, target, version, separator, noise])(request, random, context);
}

const ODD_METHODS = [
  ...'get|post|BREW|PRI|GE|G||*|GET/|"GET"|GET\t|P\u00d6ST|CONNECTED|G\0T|__proto__'.split('|'),
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
  request.expected = request.target.length > 20_000 ? [431] : undefined;
  // Whether a key is required depends only on the path of the target. A key is sent in any case.
  if (request.hasGoodKey && random.chance(0.3)) {
    withoutKey(request);
    request.fields.push(`X-Api-Key: ${anyKey(context, random)}`);
  }
  return draftOf(`target ${JSON.stringify(request.target.slice(0, 60))}`, request);
}

const VERSIONS = 'HTTP/1.0|HTTP/0.9|HTTP/2.0|HTTP/2|HTTP/1.1.1|HTTP 1.1|http/1.1|FTP/1.1|'.split('|');

/** Only HTTP/1.0 is served among these. The parser of Node.js decides about the others. */
function version(request: Request, random: Random): Draft {
  const given = random.pick(VERSIONS);
  if (!/^HTTP\/\d\.\d$/.test(given)) request.expected = [400];
  else if (given !== 'HTTP/1.0') request.expected = undefined;
  return draftOf(`version ${JSON.stringify(given)}`, request, writeRequest(request, given));
}

const SEPARATORS = ['', '  ', '\t', '\x0b', '\xa0', '\0', '\r', '\n', '\r\n', '%20'];
const STARTS = [
  '\r\n',
  '\r\n\r\n',
  '\n',
  ' ',
  '\0',
  '\r\n \r\n',
  '\xef\xbb\xbf',
  ': x\r\n',
  '\r\n'.repeat(500),
];

function separator(request: Request, random: Random): Draft {
  request.expected = undefined;
  const text = writeRequest(request);
  if (random.chance(0.3)) return draftOf('an odd start', request, random.pick(STARTS) + text);
  const [first, second] = random.shuffled([random.pick(SEPARATORS), ' ']);
  const odd = text.replace(/^(\S+) (\S+) /, (_, verb, path) => `${verb}${first}${path}${second}`);
  return draftOf(`separators ${JSON.stringify([first, second])}`, request, odd);
}

const NOISE = [
  ...(
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0|\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03|\r\n|EHLO x\r\n|' +
    '*1\r\n$4\r\nPING\r\n|HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n|G|PROXY TCP4 1.1.1.1 1.1.1.1 1 1\r\n'
  ).split('|'),
  '\0'.repeat(5000),
  'A'.repeat(70_000),
];

function noise(_request: Request, random: Random): Draft {
  const isKnown = random.chance(0.4);
  const text = isKnown ? random.pick(NOISE) : random.bytes(random.pick([1, 10, 100, 20_000]));
  const request = { ...get('', undefined, [400, 431]), method: '' };
  return { ...draftOf(`noise ${JSON.stringify(text.slice(0, 20))}`, request, text), isComplete: false };
}

function withoutKey(request: Request): void {
  request.fields = request.fields.filter((line) => !line.startsWith('Authorization:'));
  request.hasGoodKey = false;
}

/** Paths, URLs and queries, some of which exist in the API. */
function oddTarget(usual: string, random: Random): string {
  switch (random.below(7)) {
    case 0:
      return random.pick(ORIGINS) + (random.chance(0.7) ? usual : random.pick(TARGETS));
    case 1:
      return `${usual}${usual.includes('?') ? '&' : '?'}${oddQuery(random)}`;
    case 2:
      return usual + random.text('/?#%&=;.:@[]\\"<>^`{|}~\xa0\xff', random.between(1, 30));
    case 3:
      return `/v1/pets?${'x'.repeat(random.pick([12_000, 16_384, 25_000, 70_000]))}`;
    default:
      return random.pick(TARGETS);
  }
}

const TARGETS = (
  '* ? # / // ///v1/pets //v1/pets /v1 /v1/ /v1? /v1/pets#x /V1/PETS /v1/pets/ /v1//pets /v1/./pets /x/../v1/pets ' +
  '/v1%2fpets /%76%31/pets /v1/%70ets /v1/pets%00 /v1/pets/%zz /v1/pets/1%2f2 /v1/pets/%c0%ae /v1/pets/1;x=y ' +
  '/v1;x/pets \\v1\\pets /v1/pets/-1 /v1/pets/01 /v1/pets/1.0 v1/pets .. localhost:80 [::1]:80 /v1/pets/\xff\xfe ' +
  '/v1/pets/1\0 /livez/..;/v1/pets /docs/../v1/pets /docs/..%2fv1/pets /docs/../../package.json /docs/constructor ' +
  '/livez?x /__proto__ /v1/pets/toString /metrics /metrics/ /.env /v1pets /v10/pets'
).split(' ');

const ORIGINS = (
  'http://127.0.0.1 http://x HTTP://X https://x:443 http://user:pass@x http://[::1 http:// http:/// http://x:99999 ' +
  'urn:x http://\u00fc http://x? http://x# ://x'
).split(' ');

const QUERY_NAMES = 'limit status after LIMIT limit[] %6cimit __proto__ %'.split(' ');
const QUERY_VALUES = (
  '0 1 20 101 -1 +1 1.0 1e1 01 %31 null %00 available sold,pending 9223372036854775807 9223372036854775808 %zz 1&1 ' +
  '%e2%82 %ff + %20 '
).split(' ');

function oddQuery(random: Random): string {
  const count = random.between(1, random.chance(0.05) ? 500 : 4);
  const pairs = Array.from(
    { length: count },
    () => `${random.pick(QUERY_NAMES)}=${random.pick(QUERY_VALUES)}`,
  );
  return pairs.join(random.pick(['&', '&&', ';']));
}
