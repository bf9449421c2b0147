/** Every method of the library refuses arguments of the wrong type and unknown options with `invalid_request`. */

import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createFetchHandler } from '../../src/adapters/http/fetch/index.ts';
import { createHttpApp, createServer } from '../../src/adapters/http/index.ts';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { openPostgresStorage } from '../../src/adapters/postgres/index.ts';
import { openSqliteStorage, restoreSqliteStore } from '../../src/adapters/sqlite/index.ts';
import {
  type AnimalStore,
  asAnimalStoreError,
  CreatePet,
  createAnimalStore,
  GetPet,
  ImportPets,
  ListPets,
} from '../../src/library/index.ts';
import { temporaryFile } from '../adapters/sqlite/temporary-file.ts';
import { runs } from '../support/property-runs.ts';

const REX = { name: 'Rex', categoryId: 7n };

async function openStore(): Promise<AnimalStore> {
  const storage = { ...openMemoryStorage(), backup: async () => {} };
  const store = await createAnimalStore({ storage });
  onTestFinished(() => store.close());
  return store;
}

async function* batchesOf(...pets: unknown[]): AsyncGenerator<never> {
  yield pets as never;
}

async function read(iterable: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of iterable);
}

/** The message of the refusal of a call with arguments of any type. Other errors are thrown on. */
async function refusalOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    const refusal = asAnimalStoreError(error);
    if (refusal?.code !== 'invalid_request') throw error;
    return refusal.message;
  }
  return 'none';
}

/** Types do not stop a program in JavaScript. */
function untyped<T extends object>(object: T): { readonly [K in keyof T]: (...values: unknown[]) => never } {
  return object as never;
}

const RATE = 'rateLimit: expected a number of requests of 1 or more, and a number of seconds';
const ORIGINS = 'corsOrigins: expected an array of origins such as https://example.org, without wildcards';

test.each<[options: unknown, message: string]>([
  [null, 'options: expected an object, got null'],
  [
    { maxconnections: 5 },
    'unknown option maxconnections: expected apiKeys, publicUrl, corsOrigins, trustedProxies, rateLimit, metrics, observers, middleware, maxConnections, headersTimeout, requestTimeout or readingTimeout',
  ],
  [{ apiKeys: () => {} }, 'apiKeys: expected an object with the method verify, got function'],
  [{ publicUrl: 5 }, 'publicUrl: expected a string, got 5'],
  [{ corsOrigins: '*' }, `${ORIGINS}, got string`],
  [{ corsOrigins: ['https://*.example.org'] }, `${ORIGINS}, got an array`],
  [{ corsOrigins: ['https://a.example/'] }, `${ORIGINS}, got an array`],
  [{ trustedProxies: [] }, 'trustedProxies: expected an object with the method check, got an array'],
  [{ rateLimit: 5 }, `${RATE}, got 5`],
  [{ rateLimit: { requests: 5 } }, `${RATE}, got object`],
  ...[
    [0, 1],
    [1.5, 1],
    [1, 0],
    [1, Number.NaN],
    [1, Infinity],
  ].map(([requests, seconds]): [object, string] => [
    { rateLimit: { requests, seconds } },
    `${RATE}, got object`,
  ]),
  [{ metrics: true }, 'metrics: expected an object with the method text, got boolean'],
  [{ observers: {} }, 'observers: expected an array of objects, got object'],
  [{ observers: [null] }, 'observers: expected an array of objects, got an array'],
  [{ maxConnections: -1 }, 'maxConnections: expected an integer of 0 or more, or Infinity, got -1'],
  [{ readingTimeout: '5' }, 'readingTimeout: expected whole milliseconds from 0 to 2147483647, got string'],
  [{ requestTimeout: 5 }, 'requestTimeout: expected 0, or headersTimeout (10000) or more, got 5'],
])('a server refuses %j', async (options, message) => {
  const store = await openStore();
  expect(await refusalOf(() => createServer(store, options as never))).toBe(message);
});

test('a server and an app refuse a store without its methods', async () => {
  const methods = 'createPet, createPetOnce, listPage, getPet, verifyApiKey and check';
  const message = `store: expected an object with the methods ${methods}, got `;
  for (const create of [createServer, createHttpApp, createFetchHandler]) {
    expect(await refusalOf(() => create(undefined as never))).toBe(`${message}undefined`);
    expect(await refusalOf(() => create({ listPage() {} } as never))).toBe(`${message}object`);
  }
});

test('an app refuses an option of a server', async () => {
  const store = await openStore();
  const refusal = await refusalOf(() => createHttpApp(store, { maxConnections: 5 } as never));
  expect(refusal).toMatch(/^unknown option maxConnections: expected apiKeys, .* observers or middleware$/);
});

test('a server refuses to listen on what is no port, and to stop after what is no time', async () => {
  const server = createServer(await openStore());
  const noPort = 'port: expected an integer from 0 to 65535';
  expect(await refusalOf(() => server.listen('80' as never, '127.0.0.1'))).toBe(`${noPort}, got string`);
  expect(await refusalOf(() => server.listen(65_536, '127.0.0.1'))).toBe(`${noPort}, got 65536`);
  expect(await refusalOf(() => server.listen(0, ''))).toBe(
    "host: expected a string that is not empty, got ''",
  );
  for (const timeout of [undefined, -1, Infinity, 2 ** 31]) {
    expect(await refusalOf(() => server.stop(timeout as never))).toMatch(
      /^timeout: expected whole milliseconds from 0 to 2147483647/,
    );
  }
  expect(server.isStopping).toBe(false);
});

test('the storages refuse unknown options', async () => {
  const misspelled = { mustexist: true } as never;
  expect(await refusalOf(() => openSqliteStorage(temporaryFile(), misspelled))).toBe(
    'unknown option mustexist: expected mustExist, startWriter or observer',
  );
  expect(await refusalOf(() => openSqliteStorage(5 as never))).toBe('path: expected a string, got 5');
  expect(await refusalOf(() => restoreSqliteStore('a.db', 'b.db', { force: true } as never))).toBe(
    'unknown option force: expected overwrite, onProgress or signal',
  );
  expect(await refusalOf(() => openPostgresStorage('postgres://127.0.0.1:1/a', misspelled))).toBe(
    'unknown option mustexist: expected mustExist or observer',
  );
  expect(await refusalOf(() => openPostgresStorage(5 as never))).toBe('url: expected a string, got 5');
});

test('an option that is undefined is not given, and an option can be inherited', async () => {
  const store = await openStore();
  await store.createPet({ ...REX, status: 'sold' });
  expect((await store.listPage({ statuz: undefined } as never)).pets).toHaveLength(1);
  expect((await store.listPage(Object.create({ status: 'pending' }))).pets).toEqual([]);
  expect(await refusalOf(() => store.listPage(Object.create({ statuz: 'pending' })))).toMatch(
    'unknown option',
  );
});

const anything = fc.oneof(
  fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withMap: true, withSet: true }),
  fc.constantFrom<unknown>(Symbol('x'), () => {}, [null], new Proxy({}, {})),
  fc.record(
    { limit: fc.anything(), status: fc.anything(), after: fc.anything(), idempotencyKey: fc.anything() },
    { requiredKeys: [] },
  ),
);

test('any value as an argument is accepted or refused with a code, and nothing else happens', async () => {
  const store = await openStore();
  const { pets, transfer } = openMemoryStorage();
  const { apiKeys } = store;
  const calls = [
    [
      untyped(store),
      ['createPet', 'createPetOnce', 'getPet', 'listPage', 'verifyApiKey', 'importPets', 'backup'],
    ],
    [untyped(apiKeys), ['create', 'createFirst', 'rotate', 'revoke']],
    [untyped(new CreatePet(pets)), ['execute']],
    [untyped(new GetPet(pets)), ['execute']],
    [untyped(new ListPets(pets)), ['execute']],
    [untyped(new ImportPets(transfer)), ['execute']],
  ] as const;
  const known = ['invalid_request', 'not_found', 'idempotency_conflict'];
  const attempt = async (call: () => unknown) => {
    const error: unknown = await (async () => call())().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error !== undefined) expect(known).toContain(asAnimalStoreError(error)?.code ?? error);
  };
  await fc.assert(
    fc.asyncProperty(anything, anything, anything, async (first, second, third) => {
      for (const [object, names] of calls) {
        for (const name of names) {
          await attempt(() =>
            (object as Record<string, (...values: unknown[]) => unknown>)[name]?.(first, second, third),
          );
        }
      }
      await attempt(() => read(untyped(store).listPets(first)));
      await attempt(() => read(untyped(store).exportPets(first)));
      await attempt(() => store.createPet(REX, first as never));
      await attempt(() => store.importPets(batchesOf(first, second)));
      await attempt(() => createServer(store, first as never));
      await attempt(() => createServer(first as never));
      await attempt(() => createHttpApp(store, first as never));
      await attempt(() => createFetchHandler(store, first as never));
    }),
    runs(200),
  );
});
