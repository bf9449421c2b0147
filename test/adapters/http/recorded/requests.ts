/** The requests whose responses are recorded, in scenes: each scene has a server of its own, and a fixed order. */

import type { HttpServerOptions } from '../../../../src/adapters/http/index.ts';
import type { Storage } from '../../../../src/application/ports/storage.ts';
import { StorageFault } from '../../../../src/application/ports/storage-fault.ts';
import { failingPets } from '../../../support/fake-pets.ts';
import { wholeJson } from '../../../support/pets.ts';
import { METHODS, PATHS, UNKNOWN_TARGETS } from '../paths.ts';

export const REX: string = wholeJson('{"name":"Rex","categoryId":1}');

export interface Scene {
  readonly options?: HttpServerOptions & { readonly wrap?: (storage: Storage) => Storage };
  /** Messages in latin1. `KEY` stands for an API key, `OTHER` for another one, `TAG` for the last entity tag. */
  readonly messages: readonly string[];
  /** Whether a `Request` cannot express the messages, so that they are not recorded over fetch. */
  readonly isRaw?: boolean;
  /** Whether the recording has one line for each message, without the usual header fields. */
  readonly isBrief?: boolean;
}

interface Parts {
  readonly key?: string | null;
  /** Further header fields, in lines without line breaks. */
  readonly fields?: readonly string[];
  readonly body?: string;
}

/** Returns a message with a request id, an API key and, if there is a body, its type and its length. */
export function ask(line: string, { key = 'KEY', fields = [], body }: Parts = {}): string {
  const given = fields.join('\n').toLowerCase();
  const others = [
    ...(given.includes('x-request-id') ? [] : ['X-Request-Id: r']),
    ...(key === null ? [] : [`Authorization: Bearer ${key}`]),
    ...(body === undefined || given.includes('content-type') ? [] : ['Content-Type: application/json']),
    ...(body === undefined || given.includes('transfer-encoding') ? [] : [`Content-Length: ${body.length}`]),
  ];
  return [`${line} HTTP/1.1`, 'Host: x', ...others, ...fields, '', body ?? ''].join('\r\n');
}

export const get = (target: string, ...fields: string[]): string => ask(`GET ${target}`, { fields });
export const post = (body: string, ...fields: string[]): string => ask('POST /v1/pets', { fields, body });
export const head = (...fields: string[]): string =>
  `POST /v1/pets HTTP/1.1\r\nHost: x\r\nX-Request-Id: r\r\nAuthorization: Bearer KEY\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n`;
export const utf8 = (text: string): string => Buffer.from(text).toString('latin1');
const range = (count: number) => Array.from({ length: count }, (_, index) => index);

const PAW = '\u{1F43E}';
export const ORIGIN = 'Origin: https://shop.example';
export const PREFLIGHT: readonly string[] = [
  'Access-Control-Request-Method: POST',
  'Access-Control-Request-Headers: authorization,x-y',
];
const metrics = { contentType: 'text/plain; version=0.0.4', text: async () => 'up 1\n' };

/** The first pets of a scene. */
const PETS = range(25).map((index) =>
  post(
    wholeJson(
      `{"name":"Pet ${index}","categoryId":${index},"status":"${['available', 'pending', 'sold'][index % 3]}"}`,
    ),
  ),
);
const QUERIES =
  'limit=1 limit=100 limit=24 limit=25 status=sold limit=3&status=pending after=24 after=25 after=0 after=-5 limit=5&after=3 ' +
  'after=9223372036854775807 page=2 limit=%31 limit=5&x=%zz limit=0 limit=101 limit= limit=1.0 limit=+1 limit=01 limit=x limit=1&limit=1 ' +
  'LIMIT=0 status= status=SOLD status=gone status=sold&status=sold after= after=x after=9223372036854775808 ' +
  'after=1&after=1 after=0x1 limit=0&status=&after= limit[]=0 limit limit=%zz &limit=1& limit=1;status=sold status=%73old after=1e1 ' +
  'limit=0&status=gone&after=x %6cimit=1&limit=2 limit=%EF%BC%95 limit=5%00 x=%FF';
const IDS = '1 25 26 0 -1 01 +1 1.0 9223372036854775807 9223372036854775808 x %31 1%20 1?x=1';
const ACCEPTED = [
  '{"name":"Rex","categoryId":-0}',
  '{"name":"Rex","categoryId":5.0}',
  '{"name":"Rex","categoryId":0.5e1}',
  '{"name":"Rex","categoryId":9223372036854775807}',
  '{"name":"Rex","categoryId":-9223372036854775808,"status":"sold"}',
  '{"name":"Rex","categoryId":922337203685477580.7e1}',
  '{"id":7,"tag":{"a":[1.5,null]},"__proto__":{"status":"sold"},"name":"Rex","categoryId":1}',
  '{"name":"Rex","categoryId":1,"categoryId":9007199254740993}',
  `{"name":"${'x'.repeat(255)}","categoryId":1}`,
  utf8(`{"name":"${PAW.repeat(255)}","categoryId":1}`),
  '{"name":" \\" \\\\ \\u00e4 \\u2028 \\u0001 </script> ","categoryId":1}',
  ` \t\r\n${REX}\n `,
  utf8(`\ufeff${REX}`),
].map(wholeJson);
const OTHERS = [
  '{"name":"","categoryId":1}',
  `{"name":"${'x'.repeat(256)}","categoryId":1}`,
  '{"name":"\\ud83d","categoryId":1}',
  '{"name":"a\\u0000","categoryId":1}',
  '{"name":null,"categoryId":1}',
  '{"name":"Rex","categoryId":9223372036854775808}',
  '{"name":"Rex","categoryId":1.5}',
  '{"name":"Rex","categoryId":"1"}',
  '{"name":"Rex","categoryId":1,"status":"gone"}',
  '{"name":"Rex","categoryId":1,"status":null}',
  '{"name":1,"categoryId":"x","status":"x"}',
  '{}',
  '[]',
  'null',
  '"Rex"',
  '',
  '{',
  '{"name":',
  `${REX},`,
  '{\n  "name": "Rex",\n  categoryId: 1\n}',
  '{"name":"Rex","categoryId":01}',
  '{"categoryId":1,"name":"\xc0\xaf"}',
  `{"x":${'['.repeat(500)}${']'.repeat(500)},${REX.slice(1)}`,
  REX.padEnd(16_384),
  REX.padEnd(16_385),
].map(wholeJson);

/** Messages that create a pet, whatever the attributes are. The responses to the others may change with an attribute. */
export const CREATES: ReadonlySet<string> = new Set([...PETS, ...ACCEPTED.map((body) => post(body))]);
const TYPES = (
  'Application/JSON;charset=UTF-8 | application/json ; charset="UTF-8"; x=y | application/json; charset=latin1 | ' +
  'application/x-www-form-urlencoded | text/plain | '
).split(' | ');
/** Places from which no API key is read. */
const ELSEWHERE = [
  'Proxy-Authorization: Bearer KEY',
  'X-Api-Key: KEY',
  'X-Forwarded-Authorization: Bearer KEY',
  'Authorization_: Bearer KEY',
  'Cookie: Authorization=Bearer KEY; access_token=KEY',
  'Sec-WebSocket-Protocol: bearer, KEY',
];
const FORM = ['Content-Type: application/x-www-form-urlencoded', 'Transfer-Encoding: chunked'];
const CHUNKED = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
const CHUNKS = `5\r\n${REX.slice(0, 5)}\r\n${(REX.length - 5).toString(16)};a=b\r\n${REX.slice(5)}\r\n0\r\nX: y\r\n\r\n`;

/** Fields that a `Request` cannot have, and messages that are not HTTP. */
const FIELDS_RAW = [
  'Host: y',
  'Authorization: Bearer KEY',
  'Expect: x',
  'X-Request-Id: a\r\nX-Request-Id: b',
  'Idempotency-Key: a\r\nIdempotency-Key: b',
  'Connection: close',
  'Connection: upgrade\r\nUpgrade: websocket',
  'nonsense',
  'X Y: z',
  ': 1',
  'X: a\0b',
  'X: a\r\n b',
  'X: a\nb',
  `X: ${'x'.repeat(17_000)}`,
];
const LINES_RAW = [
  'garbage',
  'get /livez HTTP/1.1',
  'BREW /livez HTTP/1.1',
  'GET /livez HTTP/1.2',
  'GET /livez HTTP/2.0',
  'GET /livez FTP/1.1',
  'GET /a b HTTP/1.1',
  'GET livez HTTP/1.1',
  'GET /\xe4 HTTP/1.1',
  `GET /${'x'.repeat(20_000)} HTTP/1.1`,
  'OPTIONS * HTTP/1.1',
  'GET * HTTP/1.1',
  'TRACE /v1/pets HTTP/1.1',
  'CONNECT x:80 HTTP/1.1',
  'CONNECT /v1/pets HTTP/1.1',
  'GET http://x/livez HTTP/1.1',
  'GET HTTPS://other.example:81/livez HTTP/1.1',
  'GET http://me:secret@x/livez HTTP/1.1',
  'GET http://[::1/livez HTTP/1.1',
  'GET http:// HTTP/1.1',
  'GET ftp://x/livez HTTP/1.1',
  'GET /livez#x HTTP/1.1',
  'GET /v1/./pets HTTP/1.1',
];
const HOSTS = ['', 'x y', 'x:0', 'x:99999', 'me@x', '[::1]:3000', '[::1'];
const FRAMINGS = [
  ['Content-Length: +5', 'hello'],
  ['Content-Length: 5, 5', 'hello'],
  ['Content-Length: 5\r\nContent-Length: 5', 'hello'],
  ['Content-Length: ', ''],
  ['Content-Length: 99999999999999999999999', ''],
  ['Content-Length: 5\r\nTransfer-Encoding: chunked', CHUNKS],
  ['Transfer-Encoding: gzip, chunked', CHUNKS],
  ['Transfer-Encoding: identity', ''],
  ['Transfer-Encoding: chunked', 'zz\r\n'],
  ['Transfer-Encoding: chunked', '5\r\nhello_no_end\r\n'],
  ['Transfer-Encoding: chunked', '0\r\n\r\n'],
] as const;

const FAILING = [get('/v1/pets'), get('/v1/pets/1'), post(REX), get('/readyz'), get('/livez')];

export const SCENES: Readonly<Record<string, Scene>> = {
  'an empty store': {
    messages: ['/v1/pets', '/v1/pets/1', '/readyz', '/metrics'].map((target) => get(target)),
  },
  'every path and method': {
    options: { metrics },
    messages: [
      post(REX),
      ...PATHS.flatMap(({ target }) => [
        ...METHODS.filter((method) => method !== 'POST').map((method) => ask(`${method} ${target}`)),
        ask(`POST ${target}`, { body: REX }),
      ]),
      ...PATHS.filter(({ target }) => !target.startsWith('/v1')).map(({ target }) =>
        get(target, 'Accept-Encoding: gzip'),
      ),
    ],
  },
  'no such path': { messages: UNKNOWN_TARGETS.map((target) => get(target)) },
  'the API key': {
    messages: [
      ...'|Bearer|Bearer |bearer KEY|Basic KEY|KEY|Bearer KEY x|Bearer  KEY|Bearer OTHER|Bearers KEY|Bearer\tx|Bearer \xfc'
        .split('|')
        .map((value) => ask('GET /v1/pets', { key: null, fields: [`Authorization: ${value}`] })),
      ...ELSEWHERE.map((field) => ask('GET /v1/pets', { key: null, fields: [field] })),
      ...['?access_token=KEY', '?api_key=KEY', '/KEY'].map((end) => ask(`GET /v1/pets${end}`, { key: null })),
      ask('POST /v1/pets', { key: null, fields: CHUNKED, body: '0\r\nAuthorization: Bearer KEY\r\n\r\n' }),
      ask('POST /v1/pets', { key: null, fields: FORM, body: '43\r\naccess_token=KEY\r\n0\r\n\r\n' }),
      ask('PUT /v1/nothing?limit=0', { key: null, body: 'x'.repeat(70_000) }),
      ask('POST /v1/pets', { key: null, body: '{' }),
      ...['GET /v1/pets', 'GET /v1/pets/1', 'POST /v1/nothing', 'DELETE /v1/pets'].map((line) =>
        ask(line, { key: 'READER' }),
      ),
      ask('POST /v1/pets', { key: 'READER', body: REX, fields: ['Idempotency-Key: a'] }),
      ask('POST /v1/pets', { key: 'READER', body: '{', fields: ['Content-Type: text/plain'] }),
    ],
  },
  lists: { messages: [...PETS, ...['', ...QUERIES.split(' ')].map((query) => get(`/v1/pets?${query}`))] },
  'one pet': { messages: [...PETS.slice(0, 2), ...IDS.split(' ').map((id) => get(`/v1/pets/${id}`))] },
  bodies: {
    messages: [
      ...[...ACCEPTED, ...OTHERS].map((body) => post(body)),
      ...TYPES.map((type) => post(REX, `Content-Type: ${type}`)),
      ...['gzip', 'identity', ''].map((coding) => post(REX, `Content-Encoding: ${coding}`)),
      ask('POST /v1/pets'),
      ask('POST /v1/pets?limit=0&status=gone', { body: REX }),
      head(...CHUNKED) + CHUNKS,
      ...[16_384, 16_385].map(
        (size) => `${head(...CHUNKED)}${size.toString(16)}\r\n${REX.padEnd(size)}\r\n0\r\n\r\n`,
      ),
      ...[16_385, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 + 2].map((size) =>
        head('Content-Type: application/json', `Content-Length: ${size}`),
      ),
      ask('GET /v1/pets', { body: 'hello' }),
    ],
  },
  'Idempotency-Key': {
    messages: [
      ...[REX, REX, ` ${REX}`, wholeJson('{"name":"Max","categoryId":1}'), '{'].map((body) =>
        post(body, 'Idempotency-Key: a'),
      ),
      ask('POST /v1/pets', { key: 'OTHER', body: REX, fields: ['Idempotency-Key: a'] }),
      ...['"a"', '', 'a b', '\xe4', 'x'.repeat(255), 'x'.repeat(256)].map((key) =>
        post(REX, `Idempotency-Key: ${key}`),
      ),
      get('/v1/pets?limit=100'),
    ],
  },
  'X-Request-Id': {
    messages: [
      '',
      'a b',
      'x'.repeat(15),
      'x'.repeat(16),
      'F'.repeat(32),
      'KEY',
      '"a"',
      '0B8F7C4E-6f0a-4c39-9a50-2a1f4f1f7a11',
    ].map((id) => get('/v1/pets', `X-Request-Id: ${id}`)),
  },
  CORS: {
    options: { metrics, corsOrigins: ['http://localhost:8080', 'https://shop.example'] },
    messages: [
      post(REX, ORIGIN),
      ...PATHS.flatMap(({ target }) => [
        get(target, ORIGIN),
        ask(`OPTIONS ${target}`, { key: null, fields: [ORIGIN, ...PREFLIGHT] }),
      ]),
      ...['/', '/v1/pets/99', '/v1/nothing'].map((target) => get(target, ORIGIN)),
      get('/v1/pets'),
      get('/docs', ORIGIN, 'Accept-Encoding: gzip'),
      get('/v1/pets', 'Origin: https://evil.example'),
      ask('GET /v1/pets', { key: null, fields: [ORIGIN] }),
      ask('DELETE /v1/pets', { fields: [ORIGIN] }),
      ask('OPTIONS /v1/pets', { fields: [ORIGIN] }),
      ask('OPTIONS /v1/pets', { key: null, fields: [ORIGIN] }),
      ask('OPTIONS /v1/pets', { key: null, fields: ['Origin: https://evil.example', ...PREFLIGHT] }),
      ask('OPTIONS /v1/nothing', { key: null, fields: [ORIGIN, ...PREFLIGHT] }),
    ],
  },
  'a preflight without CORS': {
    messages: ['KEY', null].map((key) => ask('OPTIONS /v1/pets', { key, fields: [ORIGIN, ...PREFLIGHT] })),
  },
  'a public URL': {
    options: { publicUrl: 'https://pets.example/shop' },
    messages: [...PETS.slice(0, 2), get('/v1/pets?limit=1'), get('/v1/pets/1'), get('/openapi.json')],
  },
  'a rate limit': {
    options: { metrics, rateLimit: { requests: 2, seconds: 100_000 }, corsOrigins: ['https://shop.example'] },
    messages: [
      ask('GET /v1/pets', { key: null }),
      ...['/v1/nothing', '/v1/pets', '/v1/pets', '/v1/pets/1', '/livez', '/metrics'].map((target) =>
        get(target, ORIGIN),
      ),
      post('{'),
      ask('GET /v1/pets', { key: 'OTHER' }),
    ],
  },
  'a storage that is full': {
    options: { wrap: failingPets(new StorageFault('disk_full', 'the disk is full')) },
    messages: FAILING,
  },
  'a storage without idempotency keys': {
    options: { wrap: ({ idempotentCreates, ...others }) => others as Storage },
    messages: [post(REX, 'Idempotency-Key: a'), post(REX)],
  },
  'a client that is too slow': {
    options: { headersTimeout: 200, requestTimeout: 300 },
    messages: ['GET /v1/pets HTTP/1.1\r\nHost: x\r\nX: ', `${head(...CHUNKED)}5\r\n{"nam\r\n`],
  },
  'odd messages': {
    isRaw: true,
    messages: [
      ...LINES_RAW.map(
        (line) => `${line}\r\nHost: x\r\nX-Request-Id: r\r\nAuthorization: Bearer KEY\r\n\r\n`,
      ),
      ...FIELDS_RAW.map((field) => get('/v1/pets', field)),
      ...HOSTS.map((host) => `GET /livez HTTP/1.1\r\nHost: ${host}\r\nX-Request-Id: r\r\n\r\n`),
      'GET /livez HTTP/1.1\r\nX-Request-Id: r\r\n\r\n',
      'GET /v1/pets HTTP/1.0\r\nX-Request-Id: r\r\nAuthorization: Bearer KEY\r\n\r\n',
      'GET /livez HTTP/1.1\nHost: x\n\n',
      '\x16\x03\x01\x02\x00\x01\x00',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      ...FRAMINGS.map(([field, body]) => head('Content-Type: application/json', field) + body),
      `${head('Content-Type: application/json', `Content-Length: ${REX.length}`, 'Expect: 100-continue')}${REX}`,
      head('Content-Type: text/plain', 'Content-Length: 100', 'Expect: 100-continue'),
      get('/livez') + get('/v1/pets/1') + post(REX) + get('/v1/pets?status=sold'),
      `${get('/livez')}garbage\r\n\r\n${get('/livez')}`,
    ],
  },
};
