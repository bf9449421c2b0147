/** Tests that the OpenAPI document is served, complete and correct. */

import type { RouterContext } from '@koa/router';
import { describe, expect, test } from 'vitest';
import { exactJson } from '../../../openapi/document.ts';
import { errorCodesOf, MESSAGES } from '../../../openapi/errors.ts';
import { NEW_MINKA, NEW_REX } from '../../../openapi/examples.ts';
import { openApiDocument } from '../../../src/adapters/http/docs/openapi.ts';
import { type HttpErrorCode, STATUS_OF } from '../../../src/adapters/http/errors.ts';
import { createFetchHandler } from '../../../src/adapters/http/fetch.ts';
import { Load } from '../../../src/adapters/http/overload.ts';
import type { ApiState } from '../../../src/adapters/http/state.ts';
import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';
import type { Answer } from '../../support/client.ts';
import { sendLast, sendRaw } from '../../support/connection.ts';
import { withPets } from '../../support/fake-pets.ts';
import { checkAgainstDocument, parseExact } from '../../support/openapi-check.ts';
import { INVALID_PETS, numberedJson } from '../../support/pets.ts';
import { startServer } from '../../support/server.ts';
import { petOperations } from './paths.ts';

const SNAPSHOT = new URL('../../../docs/openapi.json', import.meta.url).pathname;

/** A pet that breaks the rule of which the document has an example. */
const LACKING = INVALID_PETS.find(({ message }) => message === MESSAGES.invalid_request)?.json ?? '[]';

type Document = {
  readonly servers: readonly { url: string }[];
  readonly paths: Record<string, Record<string, DocumentedOperation>>;
  readonly components: Record<string, object>;
};

interface DocumentedOperation {
  readonly operationId: string;
  readonly requestBody?: { content: { 'application/json': { examples: Record<string, { value: object }> } } };
  readonly responses: Record<string, { content?: { 'application/json': { examples: Examples } } }>;
}

type Examples = Record<string, { value: unknown }>;

function documentOf(text: string): Document {
  return parseExact(text) as Document;
}

describe('the document', () => {
  test('equals docs/openapi.json, so that every change is visible in a review', async () => {
    const text = `${openApiDocument('')}\n`;
    await expect(text).toMatchFileSnapshot(SNAPSHOT);
    expect(text).toContain('"minimum": -9223372036854775808,');
    expect(text).toContain('"maximum": 9223372036854775807\n');
  });

  test('gives each component a valid name', () => {
    const names = Object.values(documentOf(openApiDocument('')).components).flatMap(Object.keys);
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9._-]+$/);
  });

  test.each([
    ['http://127.0.0.1:3000', 'http://127.0.0.1:3000/v1'],
    ['https://pets.example.org/v1', 'https://pets.example.org/v1'],
    ['https://pets.example.org/$&$1"\\', 'https://pets.example.org/$&$1"\\/v1'],
    ['https://example.org/shop/v1///', 'https://example.org/shop/v1'],
    ['', '/v1'],
  ])('at the address %j names the server %j', (address, url) => {
    expect(documentOf(openApiDocument(address)).servers).toEqual([{ url }]);
  });

  test('is the same for each address of a request, with a relative URL unless the public one is known', async () => {
    const store = new AnimalStore(openMemoryStorage());
    for (const publicUrl of [undefined, 'https://pets.example']) {
      const handle = createFetchHandler(store, { publicUrl });
      for (const origin of ['http://x', 'https://y:1']) {
        const response = await handle(new Request(`${origin}/openapi.json`));
        expect(await response.text()).toBe(openApiDocument(publicUrl ?? ''));
      }
    }
  });
});

describe('the examples', () => {
  const document = documentOf(openApiDocument(''));

  test('of a request are accepted unchanged', async () => {
    const { client } = await startServer('memory');
    const { examples } = document.paths['/pets']?.['post']?.requestBody?.content['application/json'] ?? {};
    expect(Object.keys(examples ?? {})).toEqual(['required', 'everything']);
    for (const { value } of Object.values(examples ?? {})) {
      const members = Object.entries(value).map(
        ([name, member]) => `"${name}":${typeof member === 'bigint' ? member : JSON.stringify(member)}`,
      );
      const { status, body } = await client.post(`{${members.join()}}`);
      expect(status).toBe(201);
      expect(parseExact(body)).toMatchObject(value);
    }
  });

  test('of responses equal the responses of the server', async () => {
    const { client } = await startServer('memory');
    const expectExample = ({ status, body }: Answer, path: string, method: string, name: string) => {
      const content = document.paths[path]?.[method]?.responses[status]?.content?.['application/json'];
      expect(parseExact(body)).toEqual(content?.examples[name]?.value ?? `no example ${status} ${name}`);
    };
    expectExample(await client.get('/v1/pets'), '/pets', 'get', 'empty');
    expectExample(await client.get('/v1/pets/1'), '/pets/{petId}', 'get', 'not_found');
    expectExample(await client.post(exactJson(NEW_REX)), '/pets', 'post', 'created');
    await client.post(exactJson(NEW_MINKA));
    expectExample(await client.get('/v1/pets'), '/pets', 'get', 'page');
    expectExample(await client.get('/v1/pets/1'), '/pets/{petId}', 'get', 'found');
  });
});

test('the example of every error is a response of the server', async () => {
  const messages: Partial<Record<HttpErrorCode, string>> = {};
  const collect = ({ status, body }: Answer) => {
    const { code, message, ...others } = JSON.parse(body) as { code: HttpErrorCode; message: string };
    expect(others).toEqual({ status });
    expect(status).toBe(STATUS_OF[code]);
    messages[code] = message;
  };
  const failing = async (error: unknown) => {
    const list = () => Promise.reject(error);
    const { client } = await startServer('memory', { wrap: (storage) => withPets(storage, { list }) });
    collect(await client.get('/v1/pets', { 'X-Request-Id': 'hT5kQ2aP-1c' }));
  };
  const { client, origin, key, store } = await startServer('memory');
  collect(await client.request('GET', '/v1/pets', { key: null }));
  const reader = await store.apiKeys.create('reader', undefined, true);
  collect(await client.request('POST', '/v1/pets', { key: reader.key }));
  collect(await client.get('/v1/pets/1'));
  collect(await client.request('TRACE', '/livez'));
  collect(await client.post(' '.repeat(16_385)));
  collect(await client.post('{}', { 'Content-Type': 'text/plain' }));
  await client.post(numberedJson(1), { 'Idempotency-Key': 'key-1' });
  collect(await client.post(numberedJson(2), { 'Idempotency-Key': 'key-1' }));
  const head = `GET /v1/pets HTTP/1.1\r\nAuthorization: Bearer ${key}\r\nHost: x\r\n`;
  collect(await client.post(LACKING));
  collect(await sendRaw(origin, `${head}X: ${'x'.repeat(17_000)}\r\n\r\n`));

  const limited = await startServer('memory', { rateLimit: { requests: 1, seconds: 1 } });
  let answer = await limited.client.get('/v1/pets');
  // The limit allows another request for each second that the machine pauses.
  for (let count = 0; count < 1000 && answer.status === 200; count += 1)
    answer = await limited.client.get('/v1/pets');
  expect(answer.status, 'the rate limit').toBe(429);
  collect(answer);

  const hasty = await startServer('memory', { headersTimeout: 300, requestTimeout: 400 });
  for (const answer of await sendLast(hasty.origin, head)) collect(answer);

  await failing(new AnimalStoreError('storage_unavailable', MESSAGES.storage_unavailable));
  await failing(new Error('unexpected'));

  const ctx = { state: { animalStore: { path: '/v1/pets' } } } as RouterContext<ApiState>;
  const load = Object.assign(new Load(), { inFlight: Infinity });
  const shed = async () => load.guard(ctx, async () => {});
  await failing(await shed().catch((error: unknown) => error));

  expect(messages).toEqual(
    Object.fromEntries(errorCodesOf(petOperations()).map((code) => [code, MESSAGES[code]])),
  );
});

test('the check of responses refuses what is not documented', async () => {
  const { client } = await startServer('memory');
  await client.post(numberedJson(1));
  const answer = await client.get('/v1/pets/1');
  const { etag: _, ...withoutTag } = answer.headers;
  const withField = (field: object) => ({ headers: { ...answer.headers, ...field } });
  for (const [change, fault] of [
    [{ status: 206 }, /status 206 is not documented/],
    [withField({ 'x-new': '1' }), /x-new is not documented/],
    [{ body: answer.body.replace('{', '{"x-age":1,') }, /additional properties/],
    [{ body: answer.body.replace('"id":1', '"id":9223372036854775808') }, /body\/id/],
    [{ body: answer.body.replace(/"id":1,?/, '') }, /required property 'id'/],
    [{ headers: withoutTag }, /etag is missing/],
    [withField({ etag: 'W/"1"' }), /etag: body must match pattern/],
    [withField({ 'content-type': 'text/plain' }), /media type application\/json is documented/],
  ] as const) {
    const changed = { ...answer, ...change };
    expect(() => checkAgainstDocument(changed, { method: 'GET', target: '/v1/pets/1' })).toThrow(fault);
  }
});
