/** Messages whose recording has one line each: the status, unusual header fields, and the message of the error. */

import { wholeJson } from '../../../support/pets.ts';
import { METHODS, PATHS, UNKNOWN_TARGETS } from '../paths.ts';
import { ask, get, head, ORIGIN, PREFLIGHT, post, REX, type Scene, utf8 } from './requests.ts';

const metrics = { contentType: 'text/plain; version=0.0.4', text: async () => 'up 1\n' };
const CHUNKS = `${REX.length.toString(16)}\r\n${REX}\r\n0\r\n\r\n`;
const LIST = get('/v1/pets?limit=100');
const ARRAYS = (depth: number, leaf: string) =>
  post(`{"x":${'['.repeat(depth)}${leaf}${']'.repeat(depth)},${REX.slice(1)}`);
const TARGETS = [...PATHS.map(({ target }) => target), ...UNKNOWN_TARGETS];
const TOO_LARGE = 'x'.repeat(70_000);
const KEY_FIELD = 'Authorization: Bearer KEY';

/** Returns a message with a chunked body. */
const chunked = (line: string, coding: string, fields: readonly string[] = [KEY_FIELD]) =>
  [
    line,
    'Host: x',
    ...fields,
    'Content-Type: application/json',
    `Transfer-Encoding: ${coding}`,
    '',
    CHUNKS,
  ].join('\r\n');

/** Returns a message without a body, which consists of these lines. */
const lines = (...all: string[]) => `${all.join('\r\n')}\r\n\r\n`;
const withKey = (line: string) => lines(line, 'Host: x', KEY_FIELD);
const create = head('Content-Type: application/json', `Content-Length: ${REX.length}`) + REX;

const CODINGS =
  'gzip, chunked | GZIP , CHUNKED | chunked, chunked | gzip\r\nTransfer-Encoding: chunked | chunked;a=b | '.split(
    ' | ',
  );
const RAW_TARGETS =
  'http:///livez http:// http://[::1/livez http://%zz/livez /livez#x http://x/v1/pets/1 HTTPS://X:1/livez?a';
const UNPARSED = [
  `garbage\r\n\r\n${'x'.repeat(10_000)}`,
  'GET\t/livez\tHTTP/1.1\r\nHost: x\r\n\r\n',
  ...['1.2', '3.7', '1.'].map((version) => lines(`GET /livez HTTP/${version}`, 'Host: x')),
  `${lines('POST /v1/nothing HTTP/1.1', 'Host: x', 'Content-Length : 5')}hello`,
  lines('GET /livez HTTP/1.1', 'Host: x', 'X: a\rb'),
  lines('POST /v1/nothing HTTP/1.1', 'Host: x', 'Content-Length: -5'),
  lines('POST /v1/nothing HTTP/1.1', 'Host: x', 'Transfer-Encoding: gzip, chunked', 'Content-Length: 5') +
    CHUNKS,
  chunked('POST /v1/nothing HTTP/1.1', 'chunked, identity'),
  ...['zzz\r\nhello\r\n', '-1\r\n', '\r\n'].map((chunks) => `${head('Transfer-Encoding: chunked')}${chunks}`),
  lines('GET /livez HTTP/1.1', 'Host: x', `X: ${'x'.repeat(15_000)}`),
  lines('GET /livez HTTP/1.1', 'Host: x', ...Array.from({ length: 2000 }, () => 'X-Some-Field: x')),
  lines('CONNECT * HTTP/1.1', 'Host: x'),
  lines('GET /livez HTTP/1.1', 'Host: x', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'),
];
const TYPES = (
  'application/json; profile="a;b" | application/json; | application/json; charset=utf8 | text/plain; application/json | ' +
  'application/jsonx | application/vnd.api+json | multipart/form-data; boundary=x | json | application/* | ' +
  'application/json, text/plain | /'
).split(' | ');
const BODIES = [
  ...['\xc0\xaf', '\xed\xa0\x80', '\x80', '\xf0\x9f\x90', '\xf4\x90\x80\x80'].map(
    (bytes) => `{"categoryId":1,"name":"${bytes}"}`,
  ),
  "{'name':'Rex'}",
  ...[REX, '//'].map((end) => REX + end),
  'undefined',
  '"'.repeat(16_383),
  `"${'\\'.repeat(16_383)}`,
  Buffer.from(REX, 'utf16le').subarray(1).toString('latin1'),
  '\0',
  '{"status":"sold"}',
  '{"categoryId":1}',
  '{"name":"","categoryId":"x"}',
  '{"name":"a\\u0000","status":"x"}',
  '{"__proto__":{"name":"Rex","categoryId":1}}',
  ...['1', 'true', `[${REX}]`],
  utf8('{"name":"\u{1F43E}","categoryId":1}'),
].map(wholeJson);
const ETAGS = 'TAG|W/TAG|*|"x", TAG|"x",W/TAG , "y"|W/"x",*|"x"||W/*|"*"|x W/TAG|,,'.split('|');
const ENCODINGS = [
  ...(
    'gzip | GZIP | x-gzip | gzip, deflate, br | br,gzip | br;q=1.0, gzip;q=0.001 , *;q=0 | gzip ; q=1 | ' +
    'gzip;x=0;q=0.1 | br;q=0, gzip | gzip;q=0 | gzip;q=0.000 | gzip;q=0;x=1 | gzip;x=1; q=0 | gzip; Q=0 , br | ' +
    'br | *;q=0, identity | gzipped | not gzip |  | ,,'
  ).split(' | '),
  ...[' '.repeat(15_000), ','.repeat(15_000), 'gzip;q=0'.padEnd(15_000), 'gzip '.repeat(3000)],
];
const UNUSUAL = [
  ...['Content-Encoding: gzip', 'Range: bytes=0-1', 'If-Match: *', 'Idempotency-Key: a b'],
  ...['X-HTTP-Method-Override: DELETE', 'X-Original-URL: /livez', 'Accept: application/xml;q=1, */*;q=0'],
  ...Array.from({ length: 300 }, (_, index) => `X-Field-${index}: x`),
];

export const REFUSALS: Readonly<Record<string, Scene>> = {
  'which path and method needs a key': {
    options: { metrics },
    isBrief: true,
    messages: [
      create,
      ...TARGETS.flatMap((target) =>
        (UNKNOWN_TARGETS.includes(target) ? ['GET', 'DELETE'] : METHODS).flatMap((method) =>
          [null, 'wrong'].map((key) =>
            ask(`${method} ${target}`, { key, ...(method === 'POST' ? { body: REX } : {}) }),
          ),
        ),
      ),
    ],
  },
  'which of several faults determines the response': {
    isBrief: true,
    messages: [
      ...['KEY', null].flatMap((key) => [
        ask('PUT /v1/nothing?limit=0', { key, body: TOO_LARGE, fields: ['Content-Type: text/plain'] }),
        ask('PUT /v1/pets?limit=0', { key, body: TOO_LARGE, fields: ['Content-Type: text/plain'] }),
        ask('POST /v1/pets', { key, body: TOO_LARGE, fields: ['Content-Type: text/plain'] }),
        ask('POST /v1/pets', { key, body: TOO_LARGE }),
        ask('POST /v1/pets', { key, body: '{' }),
        ask('GET /v1/pets/no-number', { key }),
      ]),
    ],
  },
  'fields and queries that are ignored': {
    options: { metrics },
    isBrief: true,
    messages: [create, ...PATHS.map(({ target }) => get(`${target}?page=2`, ...UNUSUAL))],
  },
  'transfer codings': {
    options: { corsOrigins: [ORIGIN.slice('Origin: '.length)] },
    isBrief: true,
    messages: [
      ...CODINGS.map((coding) => chunked('POST /v1/pets HTTP/1.1', coding)),
      ...['chunked', 'Chunked', ' chunked  '].map((coding) => chunked('PUT /v1/pets HTTP/1.1', coding)),
      ...TARGETS.flatMap((target) => [
        chunked(`PATCH ${target} HTTP/1.1`, 'gzip, chunked'),
        chunked(`PATCH ${target} HTTP/1.1`, 'gzip, chunked', []),
      ]),
      chunked('OPTIONS /v1/pets HTTP/1.1', 'gzip, chunked', [ORIGIN, ...PREFLIGHT]),
      ...[
        ['POST /livez', 'gzip, chunked'],
        ['POST /v1/pets', 'identity, chunked'],
        ['GET /v1/pets/1', 'gzip, chunked'],
      ].map(([line, coding]) => chunked(`${line} HTTP/1.1`, coding ?? '') + create.repeat(3)),
      LIST,
    ],
  },
  'media types and contents': {
    isBrief: true,
    messages: [
      ...TYPES.map((type) => post(REX, `Content-Type: ${type}`)),
      post(REX, 'Content-Type: application/json', 'Content-Type: text/plain'),
      ask('POST /v1/pets', { fields: ['Content-Type: application/json'] }),
      `${head('Content-Type: application/json', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
      ...BODIES.map((body) => post(body)),
      ...['', '7', '9007199254740993', '1e5'].flatMap((leaf) =>
        [499, 500, 30_000].map((depth) => ARRAYS(depth, leaf)),
      ),
      post(`${'{"a":'.repeat(10_000)}1e5${'}'.repeat(10_000)}`),
      LIST,
    ],
  },
  preconditions: {
    isBrief: true,
    messages: [
      create,
      ...['/v1/pets', '/v1/pets/1', '/docs'].flatMap((target) => [
        get(target),
        ...ETAGS.map((tag) => get(target, `If-None-Match: ${tag}`)),
        ...['"x"', 'TAG'].flatMap((tag) => [
          get(target, `If-Match: ${tag}`),
          get(target, `If-Match: ${tag}`, 'If-None-Match: TAG'),
          ask(`HEAD ${target}`, { fields: [`If-Match: ${tag}`, 'If-Unmodified-Since: x'] }),
        ]),
        get(target, 'If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT'),
      ]),
      ...['If-None-Match: *', 'If-None-Match: TAG', 'If-Match: "x"', 'If-Match: '].flatMap((field) => [
        get('/v1/pets'),
        post(REX, field),
      ]),
      post(REX, 'If-Match: "x"', 'Idempotency-Key: precondition'),
      LIST,
      post(REX, 'If-None-Match: ', 'Idempotency-Key: precondition'),
      ...'GET /v1/pets/999|GET /v1/nothing|GET /v1/pets?limit=0|DELETE /v1/pets|OPTIONS /v1/pets'
        .split('|')
        .map((line) => ask(line, { fields: ['If-None-Match: *', 'If-Match: "x"'] })),
      ask('GET /v1/pets', { key: null, fields: ['If-Match: "x"'] }),
    ],
  },
  'Accept-Encoding': {
    isBrief: true,
    messages: ENCODINGS.map((value) => ask('HEAD /docs/icon.svg', { fields: [`Accept-Encoding: ${value}`] })),
  },
  'messages that are not HTTP, or that a Request cannot express': {
    isRaw: true,
    isBrief: true,
    messages: [
      ...UNPARSED,
      ...RAW_TARGETS.split(' ').flatMap((target) => [
        withKey(`GET ${target} HTTP/1.1`),
        lines(`GET ${target} HTTP/1.1`, 'Host: x', 'Host: y', KEY_FIELD),
      ]),
      ...['/livez', '/nothing', '/v1/pets'].flatMap((target) => [
        lines(`GET ${target} HTTP/1.1`, KEY_FIELD),
        lines(`GET ${target} HTTP/1.1`, 'Host: x', 'Host: x', KEY_FIELD),
        lines(`GET ${target} HTTP/1.0`, 'Host: x', 'Host: x', KEY_FIELD),
        lines(`GET ${target} HTTP/1.0`, KEY_FIELD),
        chunked(`POST ${target} HTTP/1.0`, 'chunked', [KEY_FIELD, 'Connection: keep-alive']),
      ]),
      lines('GET /v1/pets HTTP/2.0', 'Host: x'),
      ...['1.0', '2.0'].map(
        (version) => chunked(`POST /v1/pets HTTP/${version}`, 'chunked') + create.repeat(3),
      ),
      LIST,
    ],
  },
};
