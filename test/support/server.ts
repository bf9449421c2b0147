/** A real server on a free port, over either storage. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { createHttpApp, type HttpAppOptions } from '../../src/adapters/http/app.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../../src/adapters/http/server.ts';
import { openMemoryStorage } from '../../src/adapters/memory/storage.ts';
import { openSqliteStorage } from '../../src/adapters/sqlite/storage.ts';
import { ApiKeys } from '../../src/application/api-keys.ts';
import { CreatePet } from '../../src/application/create-pet.ts';
import { GetPet } from '../../src/application/get-pet.ts';
import { ListPets } from '../../src/application/list-pets.ts';
import type { Storage } from '../../src/application/ports.ts';
import { Client } from './client.ts';

/** Every test of the API runs on each of them. */
export const STORAGES = ['memory', 'sqlite'] as const;
export type StorageKind = (typeof STORAGES)[number];

export interface TestServer {
  readonly server: HttpServer;
  readonly storage: Storage;
  readonly client: Client;
  readonly origin: string;
  readonly key: string;
  /** What was behind every answer of 500 or more. */
  readonly errors: unknown[];
}

export interface TestServerOptions
  extends Pick<HttpAppOptions, 'corsOrigins' | 'onAnswer'>,
    Pick<HttpServerOptions, 'headersTimeout' | 'requestTimeout' | 'readingTimeout'> {
  /** Puts something between the server and its storage. */
  readonly wrap?: (storage: Storage) => Storage;
}

/** A server for one test. */
export async function startServer(kind: StorageKind, options: TestServerOptions = {}): Promise<TestServer> {
  const { close, ...server } = await open(kind, options);
  onTestFinished(close);
  return server;
}

/** One server for all tests of a `describe`. */
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
  { wrap = (storage) => storage, onAnswer, ...options }: TestServerOptions,
): Promise<TestServer & { close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  const storage = kind === 'memory' ? openMemoryStorage() : openSqliteStorage(join(folder, 'pets.db'));
  const { key } = await new ApiKeys(storage.apiKeys).create('test');
  const { pets, apiKeys, check } = wrap(storage);
  const errors: unknown[] = [];
  const server = createHttpServer(
    (self) =>
      createHttpApp({
        createPet: new CreatePet(pets),
        listPets: new ListPets(pets),
        getPet: new GetPet(pets),
        apiKeys,
        check,
        isStopping: () => self.isStopping,
        corsOrigins: options.corsOrigins,
        onAnswer,
        onError: (error) => errors.push(error),
      }),
    { ...options, onAnswer },
  );
  const origin = await server.listen(0, '127.0.0.1');
  const client = new Client(origin, key);
  const close = async () => {
    client.close();
    await server.stop(100);
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { server, storage, client, origin, key, errors, close };
}
