/** Starts a real server on a free port, with a storage of each kind. */

import { mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReadableStream } from 'node:stream/web';
import { inspect } from 'node:util';
import Koa from 'koa';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { type Api, createApi } from '../../src/adapters/http/app.ts';
import { createFetchHandler, type FetchHandler } from '../../src/adapters/http/fetch.ts';
import { createServer, type HttpServer, type HttpServerOptions } from '../../src/adapters/http/index.ts';
import { servedOperations } from '../../src/adapters/http/lifecycle.ts';
import { SERVER_OPTIONS } from '../../src/adapters/http/options.ts';
import { createNodeServer } from '../../src/adapters/http/server.ts';
import { openMemoryStorage } from '../../src/adapters/memory/storage.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import type { RequestObserver, RequestOutcome } from '../../src/application/ports/request-observer.ts';
import type { Storage } from '../../src/application/ports/storage.ts';
import { checked } from './answer-checks.ts';
import { noteKeys, registerKey } from './canary.ts';
import { CARRIER } from './carrier.ts';
import { Client } from './client.ts';
import { canRunPostgres, newDatabaseUrl, type PostgresKind } from './postgres/index.ts';

export type StorageKind = 'memory' | 'sqlite' | PostgresKind;

/** The storages on which each test of the API runs. Mutation tests set `TEST_STORAGES=memory` to take less time. */
export const STORAGES: readonly StorageKind[] = [
  'memory' as const,
  'sqlite' as const,
  ...(canRunPostgres ? ['postgres' as const] : []),
].filter((storage) => (process.env['TEST_STORAGES'] ?? storage).includes(storage));

export interface TestServer {
  readonly server: HttpServer;
  readonly storage: Storage;
  readonly store: AnimalStore;
  readonly client: Client;
  readonly origin: string;
  readonly key: string;
  /** The errors that caused a response with status 500 or above. */
  readonly errors: unknown[];
  readonly outcomes: RequestOutcome[];
}

export interface TestServerOptions extends HttpServerOptions {
  /** Returns a wrapper around the storage, which the server uses instead of the storage. */
  readonly wrap?: (storage: Storage) => Storage;
}

/**
 * Starts a server for one test. Must not be called in a concurrent test, because `onTestFinished` does not know which of
 * the concurrent tests calls it.
 */
export async function startServer(kind: StorageKind, options: TestServerOptions = {}): Promise<TestServer> {
  const { close, ...server } = await open(kind, options);
  onTestFinished(close);
  return server;
}

/** Starts one server for all tests of a `describe`. */
export function sharedServer(kind: StorageKind, options: TestServerOptions = {}): TestServer {
  const shared = {} as TestServer;
  let close = async (): Promise<void> => {};
  beforeAll(async () => {
    const opened = await open(kind, options);
    close = opened.close;
    Object.assign(shared, opened);
  });
  afterAll(() => close());
  return shared;
}

async function open(
  kind: StorageKind,
  { wrap = (storage) => storage, observers = [], ...options }: TestServerOptions,
): Promise<TestServer & { close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  const storage = await openStorage(kind, folder);
  const store = new AnimalStore(wrap(storage));
  const { key } = await store.apiKeys.create('test');
  registerKey(key);
  const errors: unknown[] = [];
  const outcomes: RequestOutcome[] = [];
  /** What observers are told must not contain an API key. */
  const observer: RequestObserver = {
    onRequest: (outcome) => {
      outcomes.push(outcome);
      noteKeys(JSON.stringify(outcome), 'what an observer is told');
    },
    onError: (error) => {
      errors.push(error);
      noteKeys(inspect(error, { depth: 5, maxStringLength: null }), 'an error');
    },
  };
  const all = { ...options, observers: [observer, ...observers] };
  const server = CREATE_SERVER[CARRIER as keyof typeof CREATE_SERVER](store, all);
  const origin = await server.listen(0, '127.0.0.1');
  const operations = servedOperations(options);
  const client = new Client(origin, key, (answer, asked) => checked(answer, asked, operations));
  const close = async () => {
    client.close();
    await server.stop(100);
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { server, storage, store, client, origin, key, errors, outcomes, close };
}

const CREATE_SERVER = {
  koa: createServer,

  /** The stages of the API in an ordinary Koa app and an ordinary server, as a program has it that mounts them. */
  'stock-koa': (store: AnimalStore, options: HttpServerOptions): HttpServer => {
    const api = createApi(store, options, SERVER_OPTIONS);
    const { trustedProxies = 0 } = options;
    const app = new Koa({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
    app.silent = true;
    for (const stage of api.stages) app.use(stage);
    return createNodeServer(app.callback(), api, options);
  },

  fetch: (store: AnimalStore, options: HttpServerOptions): HttpServer => {
    const api = createApi(store, options, SERVER_OPTIONS);
    const { headersTimeout, requestTimeout, maxConnections, ...others } = options;
    return createNodeServer(fetchListener(createFetchHandler(store, others), api), api, options);
  },
};

/** Drivers are loaded on use, because most tests use a storage in memory, and loading takes longer than such a test. */
async function openStorage(kind: StorageKind, folder: string): Promise<Storage> {
  if (kind === 'memory') return openMemoryStorage();
  if (kind === 'postgres') {
    const { openPostgresStorage } = await import('../../src/adapters/postgres/storage.ts');
    return openPostgresStorage(await newDatabaseUrl());
  }
  const { openSqliteStorage } = await import('../../src/adapters/sqlite/storage.ts');
  return openSqliteStorage(join(folder, 'pets.db'));
}

/** Lets a server of Node.js call a fetch handler. */
function fetchListener(handle: FetchHandler, { load }: Api): RequestListener {
  return async (req, res) => {
    const { method = '', url = '', headersDistinct, socket } = req;
    const headers = new Headers();
    for (const [name, values = []] of Object.entries(headersDistinct))
      headers.append(name, values.join(', '));
    const aborter = new AbortController();
    res.once('close', () => aborter.abort());
    const body =
      method === 'GET' || method === 'HEAD'
        ? null
        : ReadableStream.from(req.iterator({ destroyOnReturn: false }));
    const init = { method, headers, body, signal: aborter.signal, duplex: 'half' } as RequestInit;
    const request = new Request(url.startsWith('/') ? `http://localhost${url}` : url, init);
    const response = await handle(request, socket);
    res.shouldKeepAlive &&= response.headers.get('connection') !== 'close' && !load.isLast(res);
    res.writeHead(response.status, Object.fromEntries(response.headers));
    res.end(Buffer.from(await response.arrayBuffer()));
  };
}
