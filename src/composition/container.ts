/** All parts of a server. Each class is registered with a factory, so that no class needs a decorator. */

import 'reflect-metadata';
import {
  type DependencyContainer,
  type InjectionToken,
  instanceCachingFactory as once,
  container as root,
} from 'tsyringe';
import { createServer, type HttpServer, type KeyVerifier, supportedMethods } from '../adapters/http/index.ts';
import { type Logger, logObserver, logTo, openLog } from '../adapters/log/index.ts';
import { Metrics } from '../adapters/metrics/index.ts';
import { AnimalStore } from '../application/animal-store.ts';
import { failureReporter, joinObservers, type ReportFailure } from '../application/observers.ts';
import type { ApiKeyRepository } from '../application/ports/api-key-repository.ts';
import type { IdempotentChanges } from '../application/ports/idempotent-changes.ts';
import type { IdempotentCreates } from '../application/ports/idempotent-creates.ts';
import type { Observer } from '../application/ports/observer.ts';
import type { PetChanges } from '../application/ports/pet-changes.ts';
import type { PetRepository } from '../application/ports/pet-repository.ts';
import type { PetTransfer } from '../application/ports/pet-transfer.ts';
import type { RequestObserver } from '../application/ports/request-observer.ts';
import type { Storage } from '../application/ports/storage.ts';
import { createUseCases, type UseCases } from '../application/use-cases.ts';
import { createApiKeyVerifier } from './api-key-verifier.ts';
import type { Config } from './config.ts';
import { openDatabase } from './databases/database.ts';

/** A token for each part that is not a class. A class is its own token. */
const STORAGE: InjectionToken<Storage> = Symbol('Storage');
const PET_REPOSITORY: InjectionToken<PetRepository> = Symbol('PetRepository');
const IDEMPOTENT_CREATES: InjectionToken<IdempotentCreates> = Symbol('IdempotentCreates');
const PET_CHANGES: InjectionToken<PetChanges> = Symbol('PetChanges');
const IDEMPOTENT_CHANGES: InjectionToken<IdempotentChanges> = Symbol('IdempotentChanges');
const PET_TRANSFER: InjectionToken<PetTransfer> = Symbol('PetTransfer');
const API_KEY_REPOSITORY: InjectionToken<ApiKeyRepository> = Symbol('ApiKeyRepository');
const API_KEY_VERIFIER: InjectionToken<KeyVerifier> = Symbol('ApiKeyVerifier');
const USE_CASES: InjectionToken<Required<UseCases>> = Symbol('UseCases');
/** Registered once for each observer. */
const OBSERVER: InjectionToken<Observer & RequestObserver> = Symbol('Observer');
const LOGGER: InjectionToken<Logger> = Symbol('Logger');
const HTTP_SERVER: InjectionToken<HttpServer> = Symbol('HttpServer');

export interface Parts {
  readonly log: Logger;
  readonly store: AnimalStore;
  readonly server: HttpServer;
  /** Stops the server, and then closes the store. Requests in flight have at most `timeout` milliseconds to end. */
  close(timeout: number): Promise<void>;
}

/** Opens the database, and creates the parts. */
export async function openParts(config: Config, version: string): Promise<Parts> {
  const container = root.createChildContainer();
  registerObservers(container, config, version);
  const observer = joinObservers(container.resolveAll(OBSERVER));
  const storage = await openDatabase(config.database, { observer });
  registerStorage(container, storage);
  const report = failureReporter([observer]);
  registerUseCases(container, config, report);
  registerServer(container, config, report);
  try {
    const store = container.resolve(AnimalStore);
    const server = container.resolve(HTTP_SERVER);
    container.resolve(Metrics).readFrom({ server, storage });
    return {
      log: container.resolve(LOGGER),
      store,
      server,
      // The server must stop before the store closes. `container.dispose()` would not keep this order.
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

function registerObservers(container: DependencyContainer, config: Config, version: string): void {
  const { logLevel, database } = config;
  container.register(LOGGER, { useFactory: once(() => logTo(openLog(), logLevel)) });
  const methods = supportedMethods(config.http);
  container.register(Metrics, {
    useFactory: once(() => new Metrics({ version, storage: database.scheme, methods })),
  });
  container.register(OBSERVER, { useFactory: once((c) => logObserver(c.resolve(LOGGER))) });
  container.register(OBSERVER, { useFactory: (c) => c.resolve(Metrics).observer });
}

/** Registers the ports of a storage. The storages of the engines in `STORE_ENGINES` have all of them. */
function registerStorage(container: DependencyContainer, storage: Storage): void {
  container.register(STORAGE, { useValue: storage });
  container.register(PET_REPOSITORY, { useValue: storage.pets });
  container.register(IDEMPOTENT_CREATES, { useValue: storage.idempotentCreates });
  container.register(PET_CHANGES, { useValue: storage.changes });
  container.register(IDEMPOTENT_CHANGES, { useValue: storage.idempotentChanges });
  container.register(PET_TRANSFER, { useValue: storage.transfer });
  container.register(API_KEY_REPOSITORY, { useValue: storage.apiKeys });
}

function registerUseCases(container: DependencyContainer, config: Config, report: ReportFailure): void {
  container.register(USE_CASES, {
    // `Required<UseCases>` needs all ports, so the compiler reports a port that is missing here.
    useFactory: once(
      (c): Required<UseCases> =>
        createUseCases(
          {
            pets: c.resolve(PET_REPOSITORY),
            idempotentCreates: c.resolve(IDEMPOTENT_CREATES),
            changes: c.resolve(PET_CHANGES),
            idempotentChanges: c.resolve(IDEMPOTENT_CHANGES),
            transfer: c.resolve(PET_TRANSFER),
            apiKeys: c.resolve(API_KEY_REPOSITORY),
          },
          { idempotencyDays: config.idempotencyDays, report },
        ),
    ),
  });
}

function registerServer(container: DependencyContainer, config: Config, report: ReportFailure): void {
  container.register(AnimalStore, {
    useFactory: once((c) => new AnimalStore(c.resolve(STORAGE), c.resolve(USE_CASES), report)),
  });
  container.register(API_KEY_VERIFIER, {
    useFactory: once((c) => createApiKeyVerifier(c.resolve(USE_CASES).verifyApiKey, config.apiKeys)),
  });
  container.register(HTTP_SERVER, {
    useFactory: once((c) =>
      createServer(c.resolve(AnimalStore), {
        ...config.http,
        apiKeys: c.resolve(API_KEY_VERIFIER),
        observers: c.resolveAll(OBSERVER),
        metrics: c.resolve(Metrics),
      }),
    ),
  });
}
