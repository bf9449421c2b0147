/** All parts of a server, registered in the container with factories, so that no class needs a decorator. */

import 'reflect-metadata';
import { type InjectionToken, instanceCachingFactory as once, container as root } from 'tsyringe';
import { createServer, type HttpServer, supportedMethods } from '../adapters/http/index.ts';
import { type Logger, logObserver, logTo, openLog } from '../adapters/log/index.ts';
import { Metrics } from '../adapters/metrics/index.ts';
import { AnimalStore } from '../application/animal-store.ts';
import { combineObservers } from '../application/observers.ts';
import type { Observer } from '../application/ports/observer.ts';
import type { RequestObserver } from '../application/ports/request-observer.ts';
import type { StoreStorage } from '../application/ports/storage.ts';
import { createApiKeyVerifier } from './api-key-verifier.ts';
import type { Config } from './config.ts';

const LOG: InjectionToken<Logger> = Symbol('Logger');
const OBSERVERS: InjectionToken<readonly (Observer & RequestObserver)[]> = Symbol('Observers');
const STORAGE: InjectionToken<StoreStorage> = Symbol('Storage');
const HTTP_SERVER: InjectionToken<HttpServer> = Symbol('HttpServer');

export interface Parts {
  readonly log: Logger;
  readonly store: AnimalStore;
  readonly server: HttpServer;
  /** Stops the server, which waits at most `timeout` milliseconds for the requests in flight, and closes the store. */
  close(timeout: number): Promise<void>;
}

/** Opens the database, and creates the parts. */
export async function openParts(config: Config, version: string): Promise<Parts> {
  const container = root.createChildContainer();
  container.register(LOG, { useFactory: once(() => logTo(openLog(), config.logLevel)) });
  container.register(Metrics, {
    useFactory: once(
      () => new Metrics({ version, storage: config.database.scheme, methods: supportedMethods() }),
    ),
  });
  container.register(OBSERVERS, {
    useFactory: once((from) => [logObserver(from.resolve(LOG)), from.resolve(Metrics).observer]),
  });
  const observer = combineObservers(container.resolve(OBSERVERS));
  const storage = await config.database.open({ observer });
  container.register(STORAGE, { useValue: storage });
  container.register(AnimalStore, {
    useFactory: once((from) => new AnimalStore(from.resolve(STORAGE), config)),
  });
  container.register(HTTP_SERVER, {
    useFactory: once((from) =>
      createServer(from.resolve(AnimalStore), {
        ...config.http,
        apiKeys: createApiKeyVerifier(from.resolve(AnimalStore), config.apiKeys),
        observers: from.resolve(OBSERVERS),
        metrics: from.resolve(Metrics),
      }),
    ),
  });
  try {
    const store = container.resolve(AnimalStore);
    const server = container.resolve(HTTP_SERVER);
    container.resolve(Metrics).readFrom({ server, storage });
    return {
      log: container.resolve(LOG),
      store,
      server,
      async close(timeout) {
        await server.stop(timeout);
        await store.close();
      },
    };
  } catch (error) {
    await storage.close();
    throw error;
  }
}
