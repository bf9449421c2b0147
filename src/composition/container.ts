/** All parts of a server, registered in the container with factories, so that no class needs a decorator. */

import 'reflect-metadata';
import {
  type DependencyContainer,
  type InjectionToken,
  instanceCachingFactory,
  container as root,
} from 'tsyringe';
import { createServer, type HttpServer, type KeyVerifier, SERVER_METHODS } from '../adapters/http/index.ts';
import { isTerminal, type Logger, logObserver, logTo, openLog } from '../adapters/log/index.ts';
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
const API_KEY_VERIFIER: InjectionToken<KeyVerifier> = Symbol('ApiKeyVerifier');
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
  register(container, LOG, () => logTo(openLog(), config.logLevel));
  register(
    container,
    Metrics,
    () => new Metrics({ version, storage: config.database.scheme, methods: SERVER_METHODS }),
  );
  register(container, OBSERVERS, (get) => [
    logObserver(get(LOG), { hasNames: isTerminal }),
    get(Metrics).observer,
  ]);
  const observer = combineObservers(container.resolve(OBSERVERS));
  const storage = await config.database.open({ observer });
  container.register(STORAGE, { useValue: storage });
  register(container, AnimalStore, (get) => new AnimalStore(get(STORAGE), config));
  register(container, API_KEY_VERIFIER, (get) => createApiKeyVerifier(get(AnimalStore), config.apiKeys));
  register(container, HTTP_SERVER, (get) =>
    createServer(get(AnimalStore), {
      ...config.http,
      apiKeys: get(API_KEY_VERIFIER),
      observers: get(OBSERVERS),
      metrics: get(Metrics),
    }),
  );
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

type Get = <T>(token: InjectionToken<T>) => T;

/** Registers what is created once, when it is needed. */
function register<T>(
  container: DependencyContainer,
  token: InjectionToken<T>,
  create: (get: Get) => T,
): void {
  const useFactory = instanceCachingFactory((from) => create((needed) => from.resolve(needed)));
  container.register(token, { useFactory });
}
