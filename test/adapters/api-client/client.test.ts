/** The store of a server: its errors, its pages, and the operation that the API will lose. */

import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { STATUS_OF } from '../../../src/adapters/http/errors.ts';
import { ERROR_CODES } from '../../../src/domain/errors.ts';
import {
  type ClientOptions,
  createAnimalStore as createClient,
  type PetStore,
} from '../../../src/library/client.ts';
import { createAnimalStore } from '../../../src/library/index.ts';
import { createAnimalStore as createPortableStore } from '../../../src/library/portable.ts';
import { withRequired } from '../../support/pets.ts';
import { sharedServer, startServer } from '../../support/server.ts';
import { API_KEY, BASE, failure, fakeApi, petText } from './fake-api.ts';

const DEPRECATED = { Deprecation: '@1764892800', Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' };
const NO_SUCH_PET = failure(404, 'not_found', DEPRECATED);
const NO_SUCH_PATH = failure(404, 'not_found');
const ignore = { onDeprecation: () => {} };

async function readAll<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of iterable) values.push(value);
  return values;
}

function callsOf(store: PetStore): (() => Promise<unknown>)[] {
  return [
    () => store.getPet(1n),
    () => store.listPage(),
    () => store.createPet(withRequired({ name: 'Rex', categoryId: 1 })),
  ];
}

function openStore(options: ClientOptions = {}): Promise<PetStore> {
  return createClient({ database: BASE, apiKey: API_KEY, ...ignore, ...options });
}

describe('over a real server', () => {
  const server = sharedServer('memory');
  const open = (options: ClientOptions & { readonly database?: string } = {}): Promise<PetStore> =>
    createClient({ database: `${server.origin}/v1`, apiKey: server.key, ...ignore, ...options });

  test('a wrong key is unauthorized', async () => {
    const store = await open({ apiKey: 'wrong' });
    for (const call of callsOf(store)) {
      await expect(call()).rejects.toMatchObject({ name: 'AnimalStoreError', code: 'unauthorized' });
    }
    await expect(store.check()).rejects.toMatchObject({ code: 'unauthorized' });
  });

  test('a pet that does not exist is told apart from a wrong base address', async () => {
    await expect((await open()).getPet(10n ** 15n)).rejects.toMatchObject({
      code: 'not_found',
      message: 'there is no pet with id 1000000000000000',
    });
    for (const path of ['', '/v2', '/v1/v1', '/docs']) {
      const database = server.origin + path;
      const store = await open({ database });
      for (const call of callsOf(store)) {
        await expect(call()).rejects.toMatchObject({
          code: 'invalid_request',
          message: expect.stringContaining(`${database} is not the address of an API`),
          idempotencyKey: undefined,
        });
      }
    }
  });

  test('callers of the program do not share their idempotency keys', async () => {
    const store = await createAnimalStore({ database: `${server.origin}/v1`, apiKey: server.key });
    const create = (caller: string, name: string) =>
      store.createPetOnce(withRequired({ name, categoryId: 1 }), caller, 'shared');
    const first = await create('a/1', 'Rex');
    expect((await create('a', 'Tom')).isReplay).toBe(false);
    expect(await create('a/1', 'Rex')).toEqual({ ...first, isReplay: true });
    const pairs = [
      ['', 'x/y'],
      ['x', 'y'],
      ['', 'y'],
      ['x', '/y'],
      ['x/', 'y'],
      ['', 'x%2F/y'],
      ['', '/y'],
    ] as const;
    for (const isReplay of [false, true]) {
      for (const [caller, key] of pairs) {
        const result = await store.createPetOnce(
          withRequired({ name: `${caller} ${key}`, categoryId: 1 }),
          caller,
          key,
        );
        expect(result, `${caller} ${key}`).toMatchObject({ isReplay });
      }
    }
    await store.close();
  });

  test('an idempotency key that was used for a different pet is a conflict', async () => {
    const store = await open();
    const pet = await store.createPet(withRequired({ name: 'Rex', categoryId: 1 }), {
      idempotencyKey: 'conflict',
    });
    expect(
      await store.createPet(withRequired({ name: 'Rex', categoryId: 1 }), { idempotencyKey: 'conflict' }),
    ).toEqual(pet);
    const other = store.createPet(withRequired({ name: 'Tom', categoryId: 1 }), {
      idempotencyKey: 'conflict',
    });
    await expect(other).rejects.toMatchObject({ code: 'idempotency_conflict' });
    await store.close();
  });

  test('the store of another server has no keys, imports and backups', async () => {
    const store = await createAnimalStore({ database: `${server.origin}/v1`, apiKey: server.key });
    for (const call of [
      async () => store.apiKeys,
      () => store.verifyApiKey(server.key),
      () => store.importPets((async function* () {})()),
      () => store.backup('x'),
    ]) {
      await expect(call()).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('is not supported by this storage'),
      });
    }
  });
});

test('a list and an export read all pages', async () => {
  const { store: direct, origin, key } = await startServer('memory');
  const expected = [];
  for (let count = 0; count < 250; count++) {
    expected.push(await direct.createPet(withRequired({ name: `pet ${count}`, categoryId: count })));
  }
  const fetched = vi.spyOn(globalThis, 'fetch');
  onTestFinished(() => fetched.mockRestore());
  const store = await createAnimalStore({ database: `${origin}/v1/`, apiKey: key });
  expect(await readAll(store.listPets())).toEqual(expected);
  expect(await readAll(store.listPets({ limit: 101, after: 5n }))).toEqual(expected.slice(5, 106));
  expect((await readAll(store.exportPets())).flat()).toEqual(expected);
  await using client = await createClient({ database: `${origin}/v1/`, apiKey: key });
  expect(await readAll(client.listPets())).toEqual(expected);
  const [first, second] = fetched.mock.calls.map(([url]) => String(url));
  expect([first, second]).toEqual([
    `${origin}/v1/pets?limit=100`,
    `${origin}/v1/pets?limit=100&after=${expected[99]?.id}`,
  ]);
});

test.each([
  ['</v1/pets?after=1>; rel="next"', true],
  ['<https://evil.example/v1/pets>; rel=next', true],
  ['</docs>; rel="deprecation"; type="text/html", </v1/pets?cursor=x>; title="a"; rel="next"', true],
  ['</docs>; rel="deprecation"', false],
])('the link %s tells whether there is another page, and does not get the key', async (link, more) => {
  const sent = fakeApi(
    { status: 200, body: `[${petText(1n)}]`, headers: { Link: link } },
    { status: 200, body: `[${petText(2n)}]` },
  );
  const pets = await readAll((await openStore()).listPets());
  expect(pets.map(({ id }) => id)).toEqual(more ? [1n, 2n] : [1n]);
  expect(sent.map(({ url }) => url)).toEqual(
    [`${BASE}/pets?limit=100`, `${BASE}/pets?limit=100&after=1`].slice(0, sent.length),
  );
});

test.each([
  ['repeats', [`[${petText(1n)}]`]],
  ['has lower ids', [`[${petText(5n)}]`, `[${petText(4n)}]`]],
  [
    'has more pets than were asked for',
    [`[${Array.from({ length: 101 }, (_, index) => petText(BigInt(index + 1))).join()}]`],
  ],
  ['has no pets, but a next page', ['[]']],
  ['has more than 1 MiB', [`[${petText(1n)}${' '.repeat(2 ** 20)}]`]],
])('a page that %s ends a list, and an export', async (_case, bodies) => {
  const headers = { Link: '</v1/pets?limit=100&after=1>; rel="next"' };
  for (const read of [
    async () => readAll((await openStore()).listPets()),
    async () => readAll((await createAnimalStore({ database: BASE, apiKey: API_KEY })).exportPets()),
  ]) {
    const sent = fakeApi(...bodies.map((body) => ({ status: 200, body, headers })));
    await expect(read()).rejects.toMatchObject({
      message: expect.stringContaining('does not respond as the API does'),
    });
    expect(sent.length).toBeLessThanOrEqual(2);
  }
});

test('pages of another status, and a pet with another id, are not those of the API', async () => {
  fakeApi({ status: 200, body: `[${petText(1n)}]` });
  await expect((await openStore()).listPage({ status: 'pending' })).rejects.toThrow(
    'does not respond as the API does',
  );
  fakeApi({ status: 200, body: petText(2n) });
  await expect((await openStore()).getPet(1)).rejects.toThrow('does not respond as the API does');
});

test('a page that has not changed is the same object', async () => {
  const { origin, key } = await startServer('memory');
  const store = await createAnimalStore({ database: `${origin}/v1`, apiKey: key });
  await store.createPet(withRequired({ name: 'Rex', categoryId: 1 }));
  const page = await store.listPage({ limit: 1 });
  expect(await store.listPage({ limit: 1 })).toBe(page);
  expect(await store.listPage({ limit: 2 })).not.toBe(page);
  await store.createPet(withRequired({ name: 'Tom', categoryId: 1 }));
  const longer = await store.listPage({ limit: 1 });
  expect([longer === page, page.more, longer.more]).toEqual([false, false, true]);
  expect(await store.listPage({ limit: 1 })).toBe(longer);
  await store.close();
});

test('the cache of pages is bounded', async () => {
  const name = 'n'.repeat(255);
  const body = `[${Array.from({ length: 100 }, (_, index) => petText(BigInt(index + 1000), name)).join()}]`;
  const sent = fakeApi({ status: 200, body, headers: { ETag: '"a"' } });
  const store = await openStore();
  for (let after = 0; after < 200; after++) await store.listPage({ limit: 100, after });
  await store.listPage({ limit: 100, after: 199 });
  await store.listPage({ limit: 100, after: 0 });
  expect(sent.at(-2)?.headers.get('If-None-Match')).toBe('"a"');
  expect(sent.at(-1)?.headers.get('If-None-Match')).toBeNull();
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
    [400, 'internal_error'],
    [401, 'unauthorized'],
    [403, 'internal_error'],
    [404, 'invalid_request'],
    [410, 'invalid_request'],
    [429, 'rate_limited'],
    [202, 'storage_unavailable'],
    [301, 'storage_unavailable'],
    [500, 'storage_unavailable'],
    [503, 'storage_unavailable'],
  ])('a proxy that responds with status %d causes %s', async (status, code) => {
    fakeApi({
      status,
      body: '<html>',
      headers: { 'Retry-After': '60', Location: 'https://www.example.org/' },
    });
    const error = expect((await openStore()).listPage()).rejects;
    await error.toMatchObject({ code, message: expect.stringContaining(BASE) });
  });

  test.each([
    ['<html>', 404, 'invalid_request'],
    ['{"code":"forbidden","message":"Missing Authentication Token"}', 403, 'internal_error'],
    ['{"code":"not_found","message":"m","status":"404"}', 404, 'invalid_request'],
    ['{"message":"slow down"}', 429, 'rate_limited'],
    ['null', 502, 'storage_unavailable'],
  ])('the response %s with status %i is not called one of the API', async (body, status, code) => {
    fakeApi({ status, body });
    await expect((await openStore({ timeout: 100 })).listPage()).rejects.toMatchObject({
      code,
      message: expect.stringMatching(
        new RegExp(`^a proxy or another server responds for ${BASE} with status ${status}`),
      ),
    });
  });

  test('codes that only the API has are internal errors', async () => {
    for (const [code, status] of Object.entries(STATUS_OF)) {
      if (ERROR_CODES.some((known) => known === code) || status === 408) continue;
      fakeApi(failure(status, code));
      await expect((await openStore()).listPage()).rejects.toMatchObject({
        code: 'internal_error',
        message: `the message of ${code}`,
      });
    }
  });

  test.each(['<html>', '{}', '[{"id":1}]', ''])('the body %j is not one of the API', async (body) => {
    fakeApi({ status: 200, body });
    await expect((await openStore()).listPage()).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('does not respond as the API does'),
      cause: expect.anything(),
    });
  });
});

describe('getPet', () => {
  test('uses the operation while it is served', async () => {
    const sent = fakeApi({ status: 200, body: petText(5n) }, NO_SUCH_PET);
    const store = await openStore();
    expect((await store.getPet(5n)).id).toBe(5n);
    await expect(store.getPet(6n)).rejects.toMatchObject({ code: 'not_found' });
    expect(sent.map(({ url }) => url)).toEqual([`${BASE}/pets/5`, `${BASE}/pets/6`]);
  });

  test.each([
    ['404 for the path', NO_SUCH_PATH],
    ['410', failure(410, 'gone')],
    ['410 that names the deprecation', failure(410, 'gone', DEPRECATED)],
  ])('uses the list after %s', async (_name, removed) => {
    const list = { status: 200, body: `[${petText(2n ** 53n + 1n)}]` };
    const sent = fakeApi(removed, list, list);
    const store = await openStore();
    expect((await store.getPet(2n ** 53n + 1n)).id).toBe(2n ** 53n + 1n);
    await expect(store.getPet(2n ** 53n)).rejects.toMatchObject({ code: 'not_found' });
    expect(sent.map(({ url }) => url)).toEqual([
      `${BASE}/pets/9007199254740993`,
      `${BASE}/pets?limit=1&after=9007199254740992`,
      `${BASE}/pets?limit=1&after=9007199254740991`,
    ]);
  });

  test('sends no request for an id that no pet can have', async () => {
    const sent = fakeApi({ status: 500 });
    const store = await openStore();
    for (const id of [0, -1, 2n ** 63n]) {
      await expect(store.getPet(id)).rejects.toMatchObject({ code: 'not_found' });
    }
    expect(sent).toEqual([]);
  });
});

describe('a deprecation', () => {
  const response = { status: 200, body: petText(1n), headers: DEPRECATED };

  test('is told once per store and operation', async () => {
    fakeApi(response);
    const onDeprecation = vi.fn();
    const store = await openStore({ onDeprecation });
    await store.getPet(1n);
    await store.getPet(1n);
    expect(onDeprecation.mock.calls).toEqual([
      [
        {
          operation: 'getPet',
          since: new Date('2025-12-05T00:00:00Z'),
          sunset: new Date('2030-12-05T00:00:00Z'),
        },
      ],
    ]);
  });

  test('is a warning by default, once per process', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    fakeApi(response);
    for (const onDeprecation of [undefined, undefined, () => {}]) {
      await (await openStore({ onDeprecation })).getPet(1n);
    }
    expect(warn.mock.calls).toEqual([
      [
        'animal-store: the operation getPet of the API is deprecated, and due for removal from 2030-12-05; onDeprecation replaces this warning',
      ],
    ]);
  });

  test.each(['true', '@99999999999999999999', '@-1'])('can have unknown dates: %s', async (since) => {
    fakeApi({ ...response, headers: { Deprecation: since, Sunset: 'soon' } });
    const onDeprecation = vi.fn();
    await (await openStore({ onDeprecation })).getPet(1n);
    expect(onDeprecation).toHaveBeenCalledWith({ operation: 'getPet', since: undefined, sunset: undefined });
  });

  test('changes no result when its callback fails', async () => {
    for (const onDeprecation of [() => Promise.reject(new Error('x')), () => expect.unreachable()]) {
      fakeApi(response);
      expect((await (await openStore({ onDeprecation })).getPet(1n)).id).toBe(1n);
    }
  });
});

describe('the configuration', () => {
  const NO_KEY = 'apiKey: expected the API key of the server';
  const NO_ADDRESS = 'database: expected the base address';

  test.each([
    ['without a key', { apiKey: undefined }, NO_KEY],
    ['with an empty key', { apiKey: '' }, NO_KEY],
    ['with a key in two lines', { apiKey: 'secret\r\nsecret' }, NO_KEY],
    [
      'with a timeout of 0',
      { timeout: 0 },
      'timeout: expected a number of milliseconds from 1 to 2147483647',
    ],
    ['with an endless timeout', { timeout: Infinity }, 'timeout: expected a number of milliseconds'],
    ['with a password', { database: 'https://me:secret@pets.example.org/v1' }, NO_ADDRESS],
    ['with a query', { database: `${BASE}?a=b` }, NO_ADDRESS],
    ['with a fragment', { database: `${BASE}#a` }, NO_ADDRESS],
    ['without a host', { database: 'https:///v1' }, NO_ADDRESS],
    [
      'with an unknown option',
      { key: 'x' },
      'unknown option key: expected database, apiKey, timeout or onDepr',
    ],
    ['of another kind', { database: 'sqlite:x' }, NO_ADDRESS],
  ])('%s is refused', async (_name, config, message) => {
    const opening = openStore(config as ClientOptions);
    await expect(opening).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(message),
    });
    await expect(opening).rejects.not.toMatchObject({ message: expect.stringContaining('secret') });
  });

  test('is the same for a store in memory, so that a test changes one string', async () => {
    const config = { apiKey: API_KEY, timeout: 1000, onDeprecation: () => {} };
    const store = await createPortableStore({ database: 'memory:', ...config });
    const { signal } = new AbortController();
    const { id } = await store.createPet(withRequired({ name: 'Rex', categoryId: 1 }), {
      signal,
      timeout: 5000,
    });
    expect(await store.getPet(id, { signal, timeout: 5000 })).toMatchObject({ id });
    const stopped = { signal: AbortSignal.abort(new Error('stopped')) };
    await expect(store.getPet(id, stopped)).rejects.toThrow('stopped');
    await expect(readAll(store.listPets({}, stopped))).rejects.toThrow('stopped');
    await expect(store.createPet(withRequired({ name: 'Rex', categoryId: 1 }), stopped)).rejects.toThrow(
      'stopped',
    );
    await store.close();
  });
});
