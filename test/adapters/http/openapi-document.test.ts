/** Tests that the OpenAPI document is served, complete and correct. */

import { readFile } from 'node:fs/promises';
import { BlockList } from 'node:net';
import { describe, expect, test } from 'vitest';
import { STATUS_OF } from '../../../src/adapters/http/api/errors.ts';
import { OPERATIONS } from '../../../src/adapters/http/api/operations.ts';
import { openApiDocument } from '../../../src/adapters/http/openapi/document.ts';
import { assertSame } from '../../../src/adapters/sqlite/store-files.ts';
import { loadConfig } from '../../../src/composition/config.ts';
import { openApiDocumentOf } from '../../../src/composition/openapi.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';
import { type Answer, startDocumentedServer } from '../../support/documented-server.ts';
import { checkAgainstDocument, parseExact } from '../../support/openapi-check.ts';

const SNAPSHOT = new URL('../../../docs/openapi.json', import.meta.url).pathname;

type Document = {
  readonly servers: readonly { url: string }[];
  readonly paths: Record<string, Record<string, DocumentedOperation>>;
};

interface DocumentedOperation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly 'x-stability'?: string;
  readonly requestBody?: { content: { 'application/json': { examples: Record<string, { value: object }> } } };
  readonly responses: Record<string, { content?: { 'application/json': { examples: Examples } } }>;
}

type Examples = Record<string, { value: unknown }>;

function documentOf(text: string): Document {
  return parseExact(text) as Document;
}

function examplesOf(document: Document, path: string, method: string, status: number): Examples {
  return document.paths[path]?.[method]?.responses[status]?.content?.['application/json'].examples ?? {};
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8);

describe('the document', () => {
  test('has a table of all error codes, as docs/api.md has', async () => {
    const { description } = JSON.parse(openApiDocument('')).info as { description: string };
    const manual = await readFile(new URL('../../../docs/api.md', import.meta.url), 'utf8');
    for (const [code, status] of Object.entries(STATUS_OF)) {
      expect(description).toMatch(new RegExp(`^\\| \`${code}\` \\| ${status} \\| .+\\. \\|$`, 'm'));
      expect(manual).toMatch(new RegExp(`^\\| \`${code}\` \\| ${status} \\| .+\\. \\|$`, 'm'));
    }
  });

  test('says what the limits are, what happens under load, and how to walk all pages and to repeat a request', () => {
    const { info, paths } = JSON.parse(openApiDocument(''));
    expect(info.description).toContain('| `limit` of a list | 1 to 100, by default 20 |');
    expect(info.description).toContain('The server has no rate limit, unless its operator sets one.');
    expect(info.description).toContain('503 `overloaded` with `Retry-After`');
    expect(info.description).toContain('Follow these links until a response has none.');
    expect(info.description).toContain('Repeat a request after a lost connection, a 429 or a 503.');
    expect(paths['/pets'].post.responses['429'].headers).toHaveProperty('Retry-After');
    expect(paths['/pets'].get.parameters[0].schema).toMatchObject({ minimum: 1, maximum: 100, default: 20 });
  });

  test('equals docs/openapi.json, so that every change is visible in a review', async () => {
    await expect(`${await openApiDocumentOf(loadConfig({}))}\n`).toMatchFileSnapshot(SNAPSHOT);
  });

  test('contains the exact bounds of int64', async () => {
    const text = await readFile(SNAPSHOT, 'utf8');
    expect(text).toContain('"minimum": -9223372036854775808,');
    expect(text).toContain('"maximum": 9223372036854775807\n');
    expect(text).toContain('"categoryId": 9007199254740993,');
  });

  test('has every operation of OPERATIONS, with its id', () => {
    const document = documentOf(openApiDocument(''));
    for (const { id, method, path, deprecated } of OPERATIONS) {
      const operation = document.paths[path.slice('/v1'.length)]?.[method.toLowerCase()];
      expect(operation).toMatchObject({ operationId: id });
      expect(operation?.deprecated).toBe(deprecated);
      expect(operation).not.toHaveProperty('x-stability');
    }
    expect(Object.values(document.paths).flatMap(Object.values)).toHaveLength(OPERATIONS.length);
  });

  test('marks an operation that is not stable', () => {
    const operations = OPERATIONS.map((operation) => ({ ...operation, stability: 'beta' as const }));
    const document = documentOf(openApiDocument('', { operations }));
    expect(document.paths['/pets']?.['post']?.['x-stability']).toBe('beta');
  });

  test.each([
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000/v1'],
    ['https://pets.example.org/store', 'https://pets.example.org/store/v1'],
    ['https://pets.example.org/v1', 'https://pets.example.org/v1'],
    ['', '/v1'],
  ])('for the address %j names the server %j', (address, url) => {
    expect(documentOf(openApiDocument(address)).servers).toEqual([{ url }]);
  });
});

describe('/openapi.json', () => {
  test('needs no key and follows the Host of the request', async () => {
    const { origin, ask } = await startDocumentedServer();
    const answer = await ask('GET', '/openapi.json', { headers: { Authorization: '' } });
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
    expect(documentOf(answer.body).servers).toEqual([{ url: `${origin}/v1` }]);
  });

  test('names the public address if it is configured', async () => {
    const { ask } = await startDocumentedServer({ publicUrl: 'https://pets.example.org' });
    const { body } = await ask('GET', '/openapi.json');
    expect(documentOf(body).servers).toEqual([{ url: 'https://pets.example.org/v1' }]);
  });

  test.each([
    ['http', undefined, 'http'],
    ['https', new BlockList(), 'http'],
    ['https', LOOPBACK, 'https'],
    ['javascript', LOOPBACK, 'http'],
  ])('has the scheme that a trusted proxy names: %s', async (proto, trustedProxies, scheme) => {
    const { ask } = await startDocumentedServer({ trustedProxies });
    const headers = { 'X-Forwarded-Proto': proto };
    const { body } = await ask('GET', '/openapi.json', { headers });
    expect(documentOf(body).servers).toEqual([
      { url: expect.stringMatching(`^${scheme}://127\\.0\\.0\\.1:\\d+/v1$`) },
    ]);
  });

  test('can be revalidated, and behaves like every other path', async () => {
    const { ask } = await startDocumentedServer();
    const { headers } = await ask('GET', '/openapi.json');
    const again = await ask('GET', '/openapi.json', {
      headers: { 'If-None-Match': headers['etag'] as string },
    });
    expect(again).toMatchObject({ status: 304, body: '', headers: { etag: headers['etag'] } });
    expect(await ask('HEAD', '/openapi.json')).toMatchObject({ status: 200, body: '' });
    expect(await ask('OPTIONS', '/openapi.json')).toMatchObject({
      status: 204,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
    expect(await ask('POST', '/openapi.json')).toMatchObject({ status: 405 });
    expect(await ask('GET', '/openapi.json/')).toMatchObject({ status: 404 });
  });
});

describe('the examples', () => {
  const document = documentOf(openApiDocument(''));

  test('of a request are accepted unchanged', async () => {
    const { post } = await startDocumentedServer();
    const { examples } = document.paths['/pets']?.['post']?.requestBody?.content['application/json'] ?? {};
    expect(Object.keys(examples ?? {})).toEqual(['required', 'everything']);
    for (const { value } of Object.values(examples ?? {})) {
      const text = JSON.stringify(value, (_key, member) =>
        typeof member === 'bigint'
          ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(`${member}`)
          : member,
      );
      const { status, body } = await post(text);
      expect(status).toBe(201);
      expect(parseExact(body)).toMatchObject(value);
    }
  });

  test('of responses equal the responses of the server', async () => {
    const { ask, post } = await startDocumentedServer();
    const example = (path: string, method: string, status: number, name: string) =>
      examplesOf(document, path, method, status)[name]?.value;
    const bodyOf = (answer: Answer) => parseExact(answer.body);
    const noKey = { headers: { Authorization: '' } };

    expect(bodyOf(await ask('GET', '/v1/pets'))).toEqual(example('/pets', 'get', 200, 'empty'));
    expect(bodyOf(await ask('GET', '/v1/pets/1'))).toEqual(example('/pets/{petId}', 'get', 404, 'not_found'));
    expect(bodyOf(await post('{"name":"Rex","categoryId":7}'))).toEqual(
      example('/pets', 'post', 201, 'created'),
    );
    await post('{"name":"Минька 🐈","categoryId":9007199254740993,"status":"pending"}');
    expect(bodyOf(await ask('GET', '/v1/pets'))).toEqual(example('/pets', 'get', 200, 'page'));
    expect(bodyOf(await ask('GET', '/v1/pets/1'))).toEqual(example('/pets/{petId}', 'get', 200, 'found'));
    expect(bodyOf(await ask('GET', '/v1/pets?limit=0'))).toEqual(
      example('/pets', 'get', 400, 'invalid_request'),
    );
    expect(bodyOf(await post('{"name":"Rex"}'))).toEqual(example('/pets', 'post', 400, 'invalid_request'));
    expect(bodyOf(await ask('GET', '/v1/pets', noKey))).toEqual(example('/pets', 'get', 401, 'unauthorized'));
    expect(bodyOf(await post(' '.repeat(65_537)))).toEqual(
      example('/pets', 'post', 413, 'payload_too_large'),
    );
    expect(bodyOf(await post('{}', { 'Content-Type': 'text/plain' }))).toEqual(
      example('/pets', 'post', 415, 'unsupported_media_type'),
    );
  });
});

describe('the check of responses against the document', () => {
  const asked = { method: 'GET', target: '/v1/pets/1' };

  async function good() {
    const { ask, post } = await startDocumentedServer();
    await post('{"name":"Rex","categoryId":9223372036854775807}');
    return ask('GET', '/v1/pets/1');
  }

  test('accepts documented responses, including a 304 and a link to the next page', async () => {
    const { ask, post } = await startDocumentedServer();
    for (const id of [1, 2, 3]) await post(`{"name":"${id}","categoryId":-9223372036854775808}`);
    const { headers } = await ask('GET', '/v1/pets?limit=2');
    expect(headers['link']).toBe('</v1/pets?limit=2&after=2>; rel="next"');
    await ask('GET', '/v1/pets?limit=2', { headers: { 'If-None-Match': headers['etag'] as string } });
    await ask('HEAD', '/v1/pets/1');
    await ask('OPTIONS', '/v1/pets');
    await ask('DELETE', '/v1/pets');
    await ask('GET', '/v1/nothing');
    await ask('GET', '/v1/pets', { headers: { Authorization: 'Bearer wrong' } });
  });

  test.each<[string, (answer: Answer) => Answer, RegExp]>([
    ['a status', (answer) => ({ ...answer, status: 206 }), /status 206 is not documented/],
    [
      'a field',
      (answer) => ({ ...answer, headers: { ...answer.headers, 'x-new': '1' } }),
      /x-new is not documented/,
    ],
    [
      'a member',
      (answer) => ({ ...answer, body: answer.body.replace('{', '{"age":1,') }),
      /additional properties/,
    ],
    [
      'an integer beyond int64',
      (answer) => ({ ...answer, body: answer.body.replace('9223372036854775807', '9223372036854775808') }),
      /body\/categoryId/,
    ],
    [
      'a body with a missing member',
      (answer) => ({ ...answer, body: '{"id":1}' }),
      /required property 'name'/,
    ],
    [
      'a missing field',
      ({ headers: { sunset, ...headers }, ...answer }) => ({ ...answer, headers }),
      /sunset is missing/,
    ],
    [
      'a field with another value',
      (answer) => ({ ...answer, headers: { ...answer.headers, etag: 'W/"1"' } }),
      /etag: body must match pattern/,
    ],
    [
      'another media type',
      (answer) => ({ ...answer, headers: { ...answer.headers, 'content-type': 'text/plain' } }),
      /media type application\/json is documented/,
    ],
  ])('refuses %s that is not documented', async (_name, change, fault) => {
    const answer = await good();
    expect(() => checkAgainstDocument(answer, asked)).not.toThrow();
    expect(() => checkAgainstDocument(change(answer), asked)).toThrow(fault);
  });
});

test('the example for storage_unavailable is a message that the server sends', () => {
  const file = { path: '/nowhere/pets.db', dev: 0n, ino: 0n };
  expect(() => assertSame(file)).toThrow(AnimalStoreError);
  try {
    assertSame(file);
  } catch (error) {
    expect(openApiDocument('')).toContain(JSON.stringify((error as AnimalStoreError).message));
  }
});
