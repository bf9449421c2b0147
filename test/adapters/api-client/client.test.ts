/** The store at the address of a server: its errors, its pages and its configuration. */

import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { STATUS_OF } from '../../../src/adapters/http/errors.ts';
import { ERROR_CODES } from '../../../src/domain/errors.ts';
import { matches, readFilter } from '../../../src/domain/pet-filter.ts';
import { petJson } from '../../../src/domain/pet-json.ts';
import {
  type BasicStore,
  type ClientOptions,
  createAnimalStore as createClient,
} from '../../../src/library/client.ts';
import { createAnimalStore } from '../../../src/library/index.ts';
import { createAnimalStore as createPortableStore } from '../../../src/library/portable.ts';
import { filterablePets } from '../../../src/testing/fixtures/filters.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { REX } from '../../support/pets.ts';
import { refusal } from '../../support/refusal.ts';
import { sharedServer } from '../../support/server.ts';
import { API_KEY, BASE, failure, fakeApi, LISTED, openStore, petText } from './fake-api.ts';

function callsOf(store: BasicStore): (() => Promise<unknown>)[] {
  return [() => store.getPet(1n), () => store.listPage(), () => store.createPet(REX)];
}

describe('over a real server', () => {
  const server = sharedServer('memory');
  const open = (options: ClientOptions & { readonly database?: string } = {}): Promise<BasicStore> =>
    createClient({ database: `${server.origin}/v1/`, apiKey: server.key, ...options });

  test('a pet that does not exist is told apart from a wrong base address', async () => {
    const unknown = { code: 'not_found', message: 'there is no pet with id 1000000000000000' };
    await expect((await open()).getPet(10n ** 15n)).rejects.toMatchObject(unknown);
    for (const path of ['', '/v2', '/v1/v1', '/docs']) {
      // The scheme of a URL is case-insensitive.
      const database = server.origin.toUpperCase() + path;
      const store = await open({ database });
      for (const call of callsOf(store))
        await expect(call()).rejects.toMatchObject({
          code: 'storage_unavailable',
          message: expect.stringContaining('the address is not that of an API'),
          idempotencyKey: undefined,
        });
    }
  });

  test('callers of the program do not share their idempotency keys', async () => {
    const database = `${server.origin.toUpperCase()}/v1`;
    const store = await createAnimalStore({ database, apiKey: server.key });
    const pairs = [
      ['', 'x/y'],
      ['x', 'y'],
      ['x/', 'y'],
      ['', 'x%2F/y'],
      ['', '/'.repeat(255)],
      ['é'.repeat(500), 'y'],
      ['é'.repeat(500), 'z'],
    ] as const;
    for (const isReplay of [false, true]) {
      for (const [index, [caller, key]] of pairs.entries()) {
        const result = await store.createPetOnce(samplePet(`Rex ${index}`), { caller, key });
        expect(result, `${caller} ${key}`).toMatchObject({ isReplay });
      }
    }
    await store.close();
  });
});

test.each([
  ['</v1/pets?after=1>; rel="next"', true],
  ['<https://evil.example/v1/pets>; rel=next', true],
  ['</docs>; rel="help"; type="text/html", </v1/pets?cursor=x>; title="a"; rel="next"', true],
  ['</docs>; rel="help"', false],
])('the link %s tells whether there is another page, and does not get the key', async (link, more) => {
  const sent = fakeApi(
    { status: 200, body: `[${petText(1n)}]`, headers: { Link: link } },
    { status: 200, body: `[${petText(2n)}]` },
  );
  const pets = await Array.fromAsync((await openStore()).listPets());
  expect(pets.map(({ id }) => id)).toEqual(more ? [1n, 2n] : [1n]);
  const urls = [`${BASE}/pets?limit=100`, `${BASE}/pets?limit=100&after=1`];
  expect(sent.map(({ url }) => url)).toEqual(urls.slice(0, sent.length));
});

const MANY = Array.from({ length: 101 }, (_, index) => petText(BigInt(index + 1)));
/** Matches the pets of `petText`, and none of the others. */
const { filter: FILTER } = readFilter(LISTED);
const OTHERS = filterablePets(9)
  .filter((pet) => !matches(pet, FILTER))
  .slice(0, 1);
const EXCLUDED = 'has pets that the filter excludes';
const QUERY = new URLSearchParams(Object.entries(FILTER).map(([name, value]) => [name, String(value)]));

test.each<readonly [string, string, readonly string[]]>([
  ['repeats', 'ids that are not above', [`[${petText(1n)}]`]],
  ['has lower ids', 'ids that are not above', [`[${petText(5n)}]`, `[${petText(4n)}]`]],
  ['has more pets than were asked for', 'more than 100 pets', [`[${MANY.join()}]`]],
  ['has no pets, but a next page', 'no pets', ['[]']],
  ...OTHERS.map((pet) => [EXCLUDED, 'not match', [`[${petJson({ id: 1n, ...pet })}]`]] as const),
])('a page that %s ends a list', async (_case, reason, bodies) => {
  const headers = { Link: '</v1/pets?limit=100&after=1>; rel="next"' };
  const sent = fakeApi(...bodies.map((body) => ({ status: 200, body, headers })));
  const refused = new RegExp(`does not respond as the API does: the page has .*${reason}`);
  await expect(Array.fromAsync((await openStore()).listPets(FILTER))).rejects.toThrow(refused);
  expect(sent[0]?.url).toBe(`${BASE}/pets?limit=100${QUERY.size > 0 ? `&${QUERY}` : ''}`);
  expect(sent.length).toBeLessThanOrEqual(2);
});

describe('errors', () => {
  test('each code that a server sends comes back', async () => {
    for (const code of ERROR_CODES) {
      if (code === 'not_found') continue;
      fakeApi(failure(STATUS_OF[code], code, { 'Retry-After': '60' }));
      await expect((await openStore()).listPage()).rejects.toMatchObject({
        name: 'AnimalStoreError',
        code,
        message: expect.stringContaining(`the message of ${code}`),
      });
    }
  });

  test.each([
    [400, '<html>', 'storage_unavailable', 'a proxy or another server'],
    [400, '{"code":400,"message":"m","status":400}', 'storage_unavailable', 'a proxy or another'],
    [400, '{"code":"x","message":4,"status":400}', 'storage_unavailable', 'a proxy or another'],
    [401, '<html>', 'unauthorized', 'a proxy or another server'],
    [401, '{"code":"unauthorized","message":"m","status":401}', 'unauthorized', 'refuses the API key: m'],
    [404, '{"code":"not_found","message":"m","status":"404"}', 'storage_unavailable', 'not that of an API'],
    [404, '{"code":"not_found","message":"m","status":404}', 'storage_unavailable', 'is not that of an API'],
    [408, '<html>', 'storage_unavailable', 'a proxy or another server'],
    [410, '<html>', 'storage_unavailable', 'is not that of an API'],
    [429, '{"message":"slow down"}', 'rate_limited', 'a proxy or another server'],
    [431, '{"code":"headers_too_large","message":"m","status":431}', 'storage_unavailable', 'm'],
    [202, '<html>', 'storage_unavailable', 'unexpected status 202'],
    [300, '<html>', 'storage_unavailable', 'the server redirects'],
    [500, '<html>', 'storage_unavailable', 'a proxy or another server'],
    [503, 'null', 'storage_unavailable', 'a proxy or another server'],
  ])('a proxy that responds with status %d and %s causes %s', async (status, body, code, message) => {
    fakeApi({ status, body, headers: { 'Retry-After': '60', Location: 'https://www.example.org/' } });
    const error = await (await openStore()).listPage().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
    // A gateway can pass the message on to its own clients.
    expect((error as Error).message).not.toMatch(/pets\.example\.org\/v1: |www\.example/);
    expect((error as Error).cause).toMatchObject({ message: expect.stringContaining(BASE) });
  });

  test.each(['<html>', '[{"id":1}]', '{}'])('the body %j is not one of the API', async (body) => {
    fakeApi({ status: 200, body });
    await expect((await openStore()).listPage()).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('does not respond as the API does'),
      cause: expect.anything(),
    });
  });
});

test('no request is sent for an id that no pet can have', async () => {
  const sent = fakeApi({ status: 500 });
  const store = await openStore();
  for (const id of [0, -1, 2n ** 63n])
    await expect(store.getPet(id)).rejects.toMatchObject({ code: 'not_found' });
  expect(sent).toEqual([]);
});

describe('the configuration', () => {
  const NO_KEY = 'apiKey: expected the API key of the server';
  const NO_ADDRESS = 'database: expected the base address';

  test.each([
    ['without a key', { apiKey: undefined }, NO_KEY],
    ['with a key in two lines', { apiKey: 'secret\r\nsecret' }, NO_KEY],
    ['with an endless timeout', { timeout: Infinity }, 'timeout: expected a number of milliseconds'],
    ['with a password', { database: 'https://me:secret@pets.example.org/v1' }, NO_ADDRESS],
    ['with a query', { database: `${BASE}?a=b` }, NO_ADDRESS],
    ['without a host', { database: 'https:///v1' }, NO_ADDRESS],
    ['with an unknown option', { key: 'x' }, 'unknown option key: expected database, apiKey, timeout,'],
    ['of another kind', { database: 'sqlite:x' }, NO_ADDRESS],
  ])('%s is refused', async (_name, config, message) => {
    const opening = openStore(config as ClientOptions);
    const refused = { code: 'invalid_request', message: expect.stringContaining(message) };
    await expect(opening).rejects.toMatchObject(refused);
    await expect(opening).rejects.not.toMatchObject({ message: expect.stringContaining('secret') });
  });

  test.each([createClient, createAnimalStore, createPortableStore])(
    'can be inherited: %o',
    async (create) => {
      fakeApi({ status: 200, body: '[]' });
      const store = await create(Object.create({ database: BASE, apiKey: API_KEY }));
      expect((await store.listPage()).pets).toEqual([]);
    },
  );

  test('is the same for a store in memory, so that a test changes one string', async () => {
    const config = { apiKey: API_KEY, timeout: 1000 };
    const store = await createPortableStore({ database: 'memory:', ...config });
    const { id } = await store.createPet(REX, { timeout: 5000 });
    const stopped = { signal: AbortSignal.abort(new Error('stopped')) };
    await expect(store.getPet(id, stopped)).rejects.toThrow('stopped');
    await store.close();
  });
});

test('fetch and headers are options, and each request bypasses caches', async () => {
  const sent: RequestInit[] = [];
  const fetch = async (_url: string, init: RequestInit) => {
    sent.push(init);
    return new Response('[]');
  };
  const store = await openStore({ fetch, headers: { 'X-Gateway': 'a' } });
  await store.listPage();
  const headers = { 'X-Gateway': 'a', Authorization: `Bearer ${API_KEY}` };
  expect(sent).toEqual([expect.objectContaining({ headers, cache: 'no-store' })]);
  for (const wrong of [{ authorization: 'x' }, { 'a b': 'x' }, { a: 'secret\r\n' }, { a: 1 }, 'secret']) {
    const refused = refusal(/^headers: expected an object of header fields, (?!.*secret)/);
    await expect(openStore({ headers: wrong as never })).rejects.toThrow(refused);
  }
});

test('an engine that cannot read long numbers is not taken for a fault of the server', async () => {
  fakeApi({ status: 200, body: `[${petText(2n ** 60n)}]` });
  const parse = JSON.parse;
  vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) =>
    parse(text, reviver && ((key, value) => (reviver as (...values: unknown[]) => unknown)(key, value))),
  );
  onTestFinished(() => void vi.restoreAllMocks());
  const fault = { code: 'internal_error', message: expect.stringMatching(/^this JavaScript engine/) };
  await expect((await openStore()).listPage()).rejects.toMatchObject(fault);
});
