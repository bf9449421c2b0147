/**
 * Creates the parts of a server with the dependency injection library tsyringe. Only this file imports tsyringe, and no
 * class has a decorator.
 */

import 'reflect-metadata';
import {
  type DependencyContainer,
  type InjectionToken,
  instanceCachingFactory,
  container as root,
} from 'tsyringe';
import { createServer, type HttpServer, type MetricsText } from '../adapters/http/index.ts';
import { AnimalStore } from '../application/animal-store.ts';
import type { ApiKeyVerifier } from '../application/ports/api-key-verifier.ts';
import type { Observer } from '../application/ports/observer.ts';
import type { Storage } from '../application/ports/storage.ts';
import type { Config } from './config.ts';
import { connectionsWithinDescriptors } from './descriptors.ts';
import { createApiKeyVerifier } from './verifiers.ts';

/** The store and the HTTP server. Each of them is created when its property is read for the first time. */
export interface Parts {
  readonly store: AnimalStore;
  /** The server, which does not listen until `listen` is called. */
  readonly server: HttpServer;
}

const API_KEY_VERIFIER: InjectionToken<ApiKeyVerifier> = Symbol('ApiKeyVerifier');
const HTTP_SERVER: InjectionToken<HttpServer> = Symbol('HttpServer');
const OBSERVERS: InjectionToken<readonly Observer[]> = Symbol('Observers');

export function createParts(
  config: Config,
  storage: Storage,
  observers: readonly Observer[],
  metrics?: MetricsText,
): Parts {
  const container = root.createChildContainer();
  const provide = <T>(token: InjectionToken<T>, create: (parts: DependencyContainer) => T): void => {
    container.register(token, { useFactory: instanceCachingFactory(create) });
  };
  provide(AnimalStore, () => new AnimalStore(storage));
  provide(OBSERVERS, () => observers);
  provide(API_KEY_VERIFIER, (parts) => createApiKeyVerifier(parts.resolve(AnimalStore), config.apiKeys));
  provide(HTTP_SERVER, (parts) =>
    createServer(parts.resolve(AnimalStore), {
      apiKeys: parts.resolve(API_KEY_VERIFIER),
      observers: parts.resolve(OBSERVERS),
      metrics,
      publicUrl: config.publicUrl,
      corsOrigins: config.corsOrigins,
      trustedProxies: config.trustedProxies,
      rateLimit: config.rateLimit,
      maxConnections: config.maxConnections ?? connectionsWithinDescriptors(),
    }),
  );
  return {
    get store() {
      return container.resolve(AnimalStore);
    },
    get server() {
      return container.resolve(HTTP_SERVER);
    },
  };
}
