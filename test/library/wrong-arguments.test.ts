/** Every public entry refuses options of the wrong type and unknown ones. */

import { expect, test } from 'vitest';
import { createFetchHandler } from '../../src/adapters/http/fetch.ts';
import { createHttpApp, createServer, type HttpOptions } from '../../src/adapters/http/index.ts';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { openPostgresStorage } from '../../src/adapters/postgres/index.ts';
import { openSqliteStorage, restoreSqliteStore } from '../../src/adapters/sqlite/index.ts';
import { createAnimalStore as createClient } from '../../src/library/client.ts';
import { createAnimalStore } from '../../src/library/index.ts';
import { temporaryFile } from '../adapters/sqlite/temporary-file.ts';
import { REX } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

const store = await createAnimalStore({ storage: openMemoryStorage() });

/** Types do not stop a program in JavaScript. */
const ENTRIES: Readonly<Record<string, (options: never) => unknown>> = {
  createAnimalStore,
  createClient,
  createServer: (options) => createServer(store, options),
  createHttpApp: (options) => createHttpApp(store, options),
  createFetchHandler: (options) => createFetchHandler(store, options),
  openSqliteStorage: (options) => openSqliteStorage(temporaryFile(), options),
  restoreSqliteStore: (options) => restoreSqliteStore(temporaryFile(), temporaryFile(), options),
  openPostgresStorage: (options) => openPostgresStorage('postgres://127.0.0.1:1/a', options),
};

test.each(Object.entries(ENTRIES))(
  '%s refuses what are no options, and options that do not exist',
  async (_, open) => {
    const opening = async (options: unknown) => open(options as never);
    await expect(opening(null)).rejects.toThrow(refusal('options: expected an object, got null'));
    await expect(opening({ databse: 'memory:' })).rejects.toThrow(
      refusal(/^unknown option databse: expected \w/),
    );
  },
);

test.each([createServer, createHttpApp, createFetchHandler])(
  '%o refuses what is no store',
  async (create) => {
    for (const wrong of [undefined, { listPage() {} }])
      await expect((async () => create(wrong as never))()).rejects.toThrow(
        refusal(/^store: expected an object with the methods listPage, .+, got (?:undefined|object)$/),
      );
  },
);

test.each([
  [() => store.createPet(REX, null as never), 'options: expected an object, got null'],
  [() => store.createPet(REX, 5 as never), 'options: expected an object, got 5'],
  [() => store.changePet(1n, {}, null as never), 'options: expected an object, got null'],
  [() => store.removePet(1n, null as never), 'options: expected an object, got null'],
  [() => store.verifyApiKey('k', null as never), 'options: expected an object, got null'],
])('%o is refused', async (call, message) => {
  await expect((async () => call())()).rejects.toThrow(refusal(message));
});

test('a wrong caller is refused before a write, in this process and at a server', async () => {
  const fetch = () => expect.unreachable('a request was sent');
  const remote = await createAnimalStore({ database: 'http://a.example/v1', apiKey: 'k', fetch });
  const { id } = await store.createPet(REX);
  for (const each of [store, remote])
    for (const by of [{ key: 'k' }, { caller: { id }, key: 'k' }, { caller: '\ud800', key: 'k' }] as never[])
      for (const write of [
        () => each.createPetOnce(REX, by),
        () => each.changePetOnce(id, {}, by),
        () => each.removePetOnce(id, by),
      ])
        await expect(write()).rejects.toThrow(refusal(/^caller must be /));
});

test.each([createServer, createHttpApp, createFetchHandler])(
  '%o needs a verifier of keys if the storage has no keys',
  async (create) => {
    const without = await createAnimalStore({ storage: { ...openMemoryStorage(), apiKeys: undefined } });
    expect(() => create(without)).toThrow(refusal(/^apiKeys: expected a verifier of keys, because/));
    expect(() => create(without, { apiKeys: { verify: async () => undefined } })).not.toThrow();
  },
);

test('paths and URLs are texts', async () => {
  const [path, none] = [temporaryFile(), undefined as never];
  await expect(openPostgresStorage(none)).rejects.toThrow(refusal(/^url: expected a string/));
  await expect(restoreSqliteStore(none, path)).rejects.toThrow(refusal(/^path: expected a string/));
  await expect(restoreSqliteStore(path, none)).rejects.toThrow(refusal(/^file: expected a string/));
});

test.each<[options: unknown, message: string]>([
  [{ trustedProxies: -1 }, 'trustedProxies: expected an integer of 0 or more, got -1'],
  [{ trustedProxies: 1.5 }, 'trustedProxies: expected an integer of 0 or more, got 1.5'],
  [{ trustedProxies: '1' }, 'trustedProxies: expected an integer of 0 or more, got string'],
  [{ rateLimit: { requests: 0, seconds: 1 } }, 'requests: expected a finite number of 1 or more, got 0'],
  [{ rateLimit: { requests: Infinity, seconds: 1 } }, 'requests: expected a finite number of 1 or more'],
  [{ rateLimit: { requests: 1, seconds: 0 } }, 'seconds: expected a finite number above 0, got 0'],
  [{ rateLimit: { requests: 1, seconds: Infinity } }, 'seconds: expected a finite number above 0'],
  [{ rateLimit: { requests: 1 } }, 'rateLimit: expected an object with the numbers requests and seconds, '],
  [{ rateLimit: { requests: '1', seconds: 1 } }, 'rateLimit: expected an object with the numbers requests'],
  [{ rateLimit: null }, 'rateLimit: expected an object with the numbers requests and seconds, got null'],
  [{ corsOrigins: ['https://a.example', 'secret'] }, 'corsOrigins[1]: expected an origin such as https://'],
  [{ middleware: { beforekey: [] } }, 'unknown option middleware.beforekey: expected beforeKey or afterKey'],
  [{ middleware: { afterKey: [1] } }, 'middleware.afterKey[0]: expected a function, got 1'],
  [{ apiKeys: { verify() {}, hasPart() {} } }, 'unknown option apiKeys.hasPart: expected verify or '],
  [{ apiKeys: { verify() {}, hasPartOfKey: /x/ } }, 'apiKeys.hasPartOfKey: expected a function, got object'],
  [{ observers: [{}, { onrequest() {} }] }, 'unknown option observers[1].onrequest: expected onRequest, '],
  [{ observers: [{ onError: 'x' }] }, 'observers[0].onError: expected a function, got string'],
  [{ metrics: { text() {} } }, 'metrics: expected an object with the method text and the string contentType'],
  [{ rateLimit: { requests: 1, second: 1 } }, 'unknown option rateLimit.second: expected requests or '],
  [{ apiKeys: { verfy() {} } }, 'unknown option apiKeys.verfy: expected verify or hasPartOfKey'],
  [{ observers: { onRequest: 1 } }, 'observers: expected an array of objects, got object'],
  [{ rateLimit: { requests: 1, seconds: 1, burst: 5 } }, 'unknown option rateLimit.burst: expected requests'],
  ...['https://me:secret@a/', 'https://a/?secret', 'https://a/#secret', 'ftp://secret/', 'secret'].map(
    (publicUrl): [unknown, string] => [
      { publicUrl },
      'publicUrl: expected an http or https URL without user name',
    ],
  ),
])('the option or its member in %j is refused', async (options, message) => {
  const opening = (async () => createFetchHandler(store, options as HttpOptions))();
  await expect(opening).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining(message),
  });
  await expect(opening).rejects.not.toMatchObject({ message: expect.stringContaining('secret') });
});

test('an object of the host may have state, and methods of its own where it is of a class', () => {
  class Observing {
    readonly count = 0;
    onRequest(): void {}
    helper(): void {}
  }
  const apiKeys = { keys: new Map(), verify: async () => undefined };
  const metrics = { contentType: 'text/plain', text: async () => '' };
  const handle = createFetchHandler(store, { apiKeys, observers: [new Observing()], metrics });
  expect(handle).toBeTypeOf('function');
});
