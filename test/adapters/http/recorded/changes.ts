/** The requests to a server with the experimental operations, whose responses are recorded. */

import type { Storage } from '../../../../src/application/ports/storage.ts';
import { wholeJson } from '../../../support/pets.ts';
import { METHODS } from '../paths.ts';
import { ask, get, ORIGIN, PREFLIGHT, post, REX, type Scene } from './requests.ts';

const ANY = 'If-Match: *';
const CURRENT = 'If-Match: TAG';
const MERGE = 'Content-Type: application/merge-patch+json';

const patch = (body: string, ...fields: string[]): string => ask('PATCH /v1/pets/1', { fields, body });
const remove = (...fields: string[]): string => ask('DELETE /v1/pets/1', { fields });
const status = (value: string): string => `{"status":"${value}"}`;

const EXPERIMENTAL = { experimental: true };

/** Each request has a fault of its own, and the faults of all following requests. */
const ORDER = [
  ask('PATCH /v1/pets/x', { key: null, fields: ['Content-Type: text/plain'], body: '{' }),
  ask('PATCH /v1/nothing', { key: 'READER', fields: ['Content-Type: text/plain'], body: '{' }),
  ask('PATCH /v1/pets', { key: 'READER', fields: ['Content-Type: text/plain'], body: '{' }),
  ask('PATCH /v1/pets/x', { key: 'READER', fields: ['Content-Type: text/plain'], body: '{' }),
  ask('PATCH /v1/pets/x', { fields: ['Content-Type: text/plain', 'Idempotency-Key: a b'], body: '{' }),
  ask('PATCH /v1/pets/x', { fields: ['Idempotency-Key: a b'], body: `{${' '.repeat(16_384)}` }),
  ask('PATCH /v1/pets/x', { fields: ['Idempotency-Key: a b'], body: '{' }),
  ask('PATCH /v1/pets/x', { fields: ['Idempotency-Key: a b'], body: '{"status":"gone"}' }),
  ask('PATCH /v1/pets/x', { fields: ['Idempotency-Key: a b'], body: status('sold') }),
  ask('PATCH /v1/pets/x', { fields: ['Idempotency-Key: used'], body: status('sold') }),
  ask('PATCH /v1/pets/x', { fields: ['Idempotency-Key: used', 'If-Match: "x"'], body: status('sold') }),
  ask('PATCH /v1/pets/x', { fields: ['Idempotency-Key: new', 'If-Match: "x"'], body: status('sold') }),
  ask('PATCH /v1/pets/2', { fields: ['Idempotency-Key: new', 'If-Match: "x"'], body: status('sold') }),
  patch(status('available'), 'Idempotency-Key: new', 'If-Match: "x"'),
  patch(status('available'), 'Idempotency-Key: new', ANY),
];

const ORDER_OF_REMOVALS = [
  ask('DELETE /v1/pets/x', { key: null }),
  ask('DELETE /v1/pets', { key: 'READER' }),
  ask('DELETE /v1/changes', { key: 'READER' }),
  ask('DELETE /v1/pets/x', { key: 'READER' }),
  ask('DELETE /v1/pets/x', { fields: ['Idempotency-Key: a b'] }),
  ask('DELETE /v1/pets/x', { fields: ['Idempotency-Key: used'] }),
  ask('DELETE /v1/pets/x', { fields: ['Idempotency-Key: used', 'If-Match: "x"'] }),
  ask('DELETE /v1/pets/x', { fields: ['Idempotency-Key: new', 'If-Match: "x"'] }),
  ask('DELETE /v1/pets/9223372036854775808', { fields: [ANY] }),
  ask('DELETE /v1/pets/2', { fields: ['If-Match: "x"'] }),
  remove('If-Match: "x"'),
];

const BODIES = [
  '{"name":""}',
  '{"name":null}',
  '{"categoryId":null,"status":null}',
  '{"categoryId":9223372036854775808,"status":"gone"}',
  '{"categoryId":1.5}',
  '{"categoryId":"1","name":1}',
  '[]',
  'null',
  '"Rex"',
  '',
  '{"name":"\xc0\xaf"}',
  '{"categoryId":9223372036854775807}',
  '{"categoryId":-9223372036854775808}',
  '{"categoryId":9007199254740993}',
  '{"id":7,"tag":null,"__proto__":{"status":"sold"},"name":"Max"}',
  '{"id":null}',
  '{}',
];

const TAGS = [
  '',
  ' ',
  '"',
  '""',
  'TAG',
  'W/TAG',
  '"x"',
  '"x", TAG',
  'TAG,"x"',
  '"x" TAG',
  'W/"x", W/TAG',
  '*, TAG',
  '*, "x"',
  '* ',
  '"a,b", TAG',
  `"${'x'.repeat(10_000)}"`,
];

export const CHANGES: Readonly<Record<string, Scene>> = {
  'a pet that changes': {
    options: EXPERIMENTAL,
    messages: [
      post(REX, 'Idempotency-Key: create'),
      patch(status('pending'), CURRENT),
      get('/v1/pets/1', 'If-None-Match: TAG'),
      patch(status('pending'), CURRENT, MERGE),
      patch(status('available'), CURRENT, 'Idempotency-Key: change'),
      patch('{"name":"Max"}', ANY),
      patch(status('available'), 'If-Match: "x"', 'Idempotency-Key: change'),
      post(REX, 'Idempotency-Key: create', 'If-Match: "x"'),
      get('/v1/pets/1', 'If-Match: "x"'),
      patch(status('sold'), CURRENT),
      patch(status('available'), CURRENT),
      patch(status('pending'), ANY),
      remove('If-Match: "x"', 'Idempotency-Key: remove'),
      remove(CURRENT, 'Idempotency-Key: remove'),
      remove('If-Match: "x"', 'Idempotency-Key: remove'),
      remove('If-Match: "x"'),
      remove('If-Match: "x"', 'Idempotency-Key: another'),
      patch(status('sold'), ANY),
      patch(status('available'), ANY, 'Idempotency-Key: change'),
      post(REX, 'Idempotency-Key: create'),
      get('/v1/pets/1'),
      get('/v1/pets'),
      ask('GET /v1/changes', { key: 'READER' }),
    ],
  },
  'the order of checks of a change': {
    options: EXPERIMENTAL,
    messages: [post(REX), patch(status('sold'), ANY, 'Idempotency-Key: used'), ...ORDER, get('/v1/pets/1')],
  },
  'the order of checks of a removal': {
    options: EXPERIMENTAL,
    messages: [
      post(REX),
      patch(status('sold'), ANY, 'Idempotency-Key: used'),
      ...ORDER_OF_REMOVALS,
      get('/v1/pets/1'),
    ],
  },
  'bodies of changes': {
    options: EXPERIMENTAL,
    messages: [post(REX), ...BODIES.map((body) => patch(body, ANY))],
  },
  'media types of changes': {
    options: EXPERIMENTAL,
    messages: [
      post(REX),
      ...[
        'Application/Merge-Patch+JSON; charset=UTF-8',
        'application/json',
        'application/json-patch+json',
        '',
      ].map((type) => patch('{}', ANY, `Content-Type: ${type}`)),
      patch('{}', ANY, 'Content-Encoding: gzip'),
      post(REX, MERGE),
    ],
  },
  'the field If-Match': {
    options: EXPERIMENTAL,
    messages: [
      post(REX),
      ...TAGS.map((tag) => patch('{}', `If-Match: ${tag}`)),
      patch('{}', 'If-Match: "x"\r\nIf-Match: TAG'),
    ],
  },
  'an idempotency key for several operations': {
    options: EXPERIMENTAL,
    messages: [
      post(REX, 'Idempotency-Key: a'),
      patch(status('sold'), ANY, 'Idempotency-Key: a'),
      remove(ANY, 'Idempotency-Key: a'),
      patch(status('sold'), ANY, 'Idempotency-Key: b'),
      patch(status('pending'), ANY, 'Idempotency-Key: b'),
      post(REX, 'Idempotency-Key: b'),
      ask('PATCH /v1/pets/1', { key: 'OTHER', body: '{}', fields: [ANY, 'Idempotency-Key: b'] }),
    ],
  },
  'the list of changes': {
    options: EXPERIMENTAL,
    messages: [
      get('/v1/changes'),
      get('/v1/changes', 'If-None-Match: TAG'),
      ...['Rex', 'Tom', 'Max'].map((name) => post(wholeJson(`{"name":"${name}","categoryId":7}`))),
      patch(status('sold'), ANY),
      ask('DELETE /v1/pets/2', { fields: [ANY] }),
      get('/v1/changes'),
      ask('HEAD /v1/changes'),
      get('/v1/changes?limit=1'),
      get('/v1/changes?limit=1&after=CURSOR'),
      get('/v1/changes?limit=1&after=CURSOR'),
      get('/v1/changes?limit=1&after=CURSOR'),
      get('/v1/changes?after=0123456789abcdef-1'),
      ...'limit=0 limit=101 limit= limit=x limit=1&limit=2 after= after=x after=1 after=-1 x=1'
        .split(' ')
        .map((query) => get(`/v1/changes?${query}`)),
      get(`/v1/changes?after=${'x'.repeat(1000)}`),
      get('/v1/changes?after=0123456789abcdef-9223372036854775808'),
      get('/v1/changes?after=CURSOR&after=CURSOR'),
      get('/v1/changes?after=CURSOR%00'),
    ],
  },
  'methods, and scripts of other origins': {
    options: {
      ...EXPERIMENTAL,
      corsOrigins: ['https://shop.example'],
      publicUrl: 'https://shop.example/pets',
    },
    messages: [
      post(REX, ORIGIN),
      post(REX),
      ...['/v1/pets', '/v1/pets/1', '/v1/changes'].flatMap((target) =>
        METHODS.map((method) => ask(`${method} ${target}`)),
      ),
      get('/v1'),
      ask('OPTIONS /v1/pets/1', { key: null, fields: [ORIGIN, ...PREFLIGHT, 'X: if-match'] }),
      patch(status('sold'), ORIGIN, ANY),
      ask('DELETE /v1/pets/2', { fields: [ORIGIN, ANY] }),
      get('/v1/changes?limit=1', ORIGIN),
      get('/openapi.json'),
    ],
  },
  'the methods of the server': {
    options: EXPERIMENTAL,
    isRaw: true,
    messages: [ask('OPTIONS *'), ask('CONNECT x:80')],
  },
  'a storage that keeps no keys of changes': {
    options: { ...EXPERIMENTAL, wrap: ({ idempotentChanges: _, ...others }) => others as Storage },
    messages: [
      post(REX),
      patch('{}', ANY, 'Idempotency-Key: a'),
      remove(ANY, 'Idempotency-Key: a'),
      patch('{}', ANY),
    ],
  },
};
