/** All parts of a server, registered in the container with factories, so that no class needs a decorator. */

import 'reflect-metadata';
import { type InjectionToken, instanceCachingFactory, container as root } from 'tsyringe';
import type { HttpServer, KeyVerifier, RequestObserver } from '../adapters/http/api/index.ts';
import { isTerminal, type Logger, logObserver, logTo, openLog } from '../adapters/log/index.ts';
import { Metrics } from '../adapters/metrics/index.ts';
import { findTracing } from '../adapters/tracing/index.ts';
import { AnimalStore } from '../application/animal-store.ts';
import { combineObservers } from '../application/observers.ts';
import type { Observer } from '../application/ports/observer.ts';
import type { Storage } from '../application/ports/storage.ts';
import { createApiKeyVerifier } from './api-key-verifier.ts';
import type { Config } from './config.ts';
import { connectionsWithin, descriptorLimit } from './descriptors.ts';
import type { ThreadParts } from './workers/thread-data.ts';

const OBSERVERS: InjectionToken<readonly (Observer & RequestObserver)[]> = Symbol('Observers');
const STORAGE: InjectionToken<Storage> = Symbol('Storage');
const API_KEY_VERIFIER: InjectionToken<KeyVerifier> = Symbol('ApiKeyVerifier');
const HTTP_SERVER: InjectionToken<HttpServer> = Symbol('HttpServer');

export interface Parts {
  readonly log: Logger;
  readonly store: AnimalStore;
  readonly server: HttpServer;
  readonly metrics: Metrics;
  /** The number of threads that handle requests. */
  readonly threads: number;
  /** Rejects when the server cannot continue, if it has several threads. */
  readonly failure: Promise<never> | undefined;
  /** Resolves when the storage of this thread can handle requests. */
  check(): Promise<void>;
  /** Stops the server, which waits at most `timeout` milliseconds for the requests in flight, and closes the store. */
  close(timeout: number): Promise<void>;
}

/**
 * Opens the database, and creates the parts. If the configuration has several workers, the server is a pool of threads,
 * each of which calls this function with `thread`.
 */
export async function openParts(given: Config, version: string, thread?: ThreadParts): Promise<Parts> {
  const threads = process.platform === 'linux' ? given.workers : 1;
  const maxConnections = given.http.maxConnections ?? connectionsWithin(descriptorLimit(), threads);
  const config: Config = { ...given, http: { ...given.http, maxConnections } };
  const { scheme } = config.database;
  const container = root.createChildContainer();
  const provide = <T>(token: InjectionToken<T>, create: () => T): void => {
    container.register(token, { useFactory: instanceCachingFactory(create) });
  };
  const get = <T>(token: InjectionToken<T>): T => container.resolve(token);

  const tracing = findTracing(scheme, version);
  const log = logTo(thread?.log ?? openLog(), config.logLevel, tracing?.logFields);
  const isMain = threads > 1 && thread === undefined;
  const pool = isMain
    ? new (await import('./workers/pool.ts')).WorkerPool({
        config,
        version,
        log,
        destination: openLog(),
        metrics: () => get(Metrics),
        check: () => storage.check(),
      })
    : undefined;
  const createServer =
    pool === undefined ? (await import('../adapters/http/index.ts')).createServer : () => pool;
  // The metrics observe the opening of the storage, so they exist before these sources.
  const sources = {
    thread: thread?.name,
    serverStatistics: () => get(HTTP_SERVER).statistics(),
    restartedThreads: () => pool?.restarts ?? 0,
    storageStatistics: () => get(STORAGE).statistics?.() ?? {},
    countRecords: () => get(STORAGE).idempotencyRecords.count(),
  };
  provide(Metrics, () => new Metrics({ version, storage: scheme, ...sources }));
  provide(OBSERVERS, () => {
    const logging = logObserver(log, {
      sample: config.logSample,
      hasTraceparent: tracing === undefined,
      hasNames: isTerminal,
      threads,
    });
    return [
      ...(tracing === undefined ? [] : [tracing.observer]),
      { ...logging, ...(pool ?? thread)?.observer },
      get(Metrics).observer,
    ];
  });
  const storage = await config.database.open({
    observer: combineObservers(get(OBSERVERS)),
    sharing: (pool ?? thread)?.sharing,
  });
  provide(STORAGE, () => {
    const traced = tracing?.traceStorage(storage) ?? storage;
    return thread === undefined ? traced : { ...traced, check: () => thread.check() };
  });
  provide(AnimalStore, () => new AnimalStore(get(STORAGE), config));
  provide(API_KEY_VERIFIER, () => createApiKeyVerifier(get(AnimalStore), config.apiKeys));
  provide(HTTP_SERVER, () =>
    createServer(get(AnimalStore), {
      ...config.http,
      apiKeys: get(API_KEY_VERIFIER),
      observers: get(OBSERVERS),
      metrics: thread?.metrics ?? get(Metrics),
      thread: thread?.server,
    }),
  );

  let server: HttpServer;
  try {
    server = get(HTTP_SERVER);
  } catch (error) {
    await storage.close();
    throw error;
  }
  return {
    log,
    store: get(AnimalStore),
    server,
    metrics: get(Metrics),
    threads,
    failure: pool?.failure,
    check: () => storage.check(),
    async close(timeout) {
      await server.stop(timeout);
      await get(AnimalStore).close();
      await tracing?.flush();
    },
  };
}
