/** All parts of a server. They are registered with factories, so that no class needs a decorator. */

import 'reflect-metadata';
import { type DependencyContainer, instanceCachingFactory as once, container as root } from 'tsyringe';
import { createServer, type HttpServer, supportedMethods } from '../adapters/http/index.ts';
import { type Logger, logObserver, logTo, openLog } from '../adapters/log/index.ts';
import { Metrics } from '../adapters/metrics/index.ts';
import { AnimalStore } from '../application/animal-store.ts';
import { ApiKeys } from '../application/api-keys.ts';
import { CreatePet } from '../application/create-pet.ts';
import { GetPet } from '../application/get-pet.ts';
import { ImportPets } from '../application/import-pets.ts';
import { ListPets } from '../application/list-pets.ts';
import { combineObservers, failureReporter, type ReportFailure } from '../application/observers.ts';
import type { Storage } from '../application/ports/storage.ts';
import { createUseCases } from '../application/use-cases.ts';
import { VerifyApiKey } from '../application/verify-api-key.ts';
import { createApiKeyVerifier } from './api-key-verifier.ts';
import type { Config } from './config.ts';
import { openDatabase } from './databases/database.ts';
import * as token from './tokens.ts';

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
  registerObservers(container, config, version);
  const observer = combineObservers(container.resolveAll(token.OBSERVER));
  const storage = await openDatabase(config.database, { observer });
  registerStorage(container, storage);
  const report = failureReporter([observer]);
  registerUseCases(container, config, report);
  registerServer(container, config, report);
  try {
    const store = container.resolve(AnimalStore);
    const server = container.resolve(token.HTTP_SERVER);
    container.resolve(Metrics).readFrom({ server, storage });
    return {
      log: container.resolve(token.LOGGER),
      store,
      server,
      // In this order, which `container.dispose()` would not keep.
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
  container.register(token.LOGGER, { useFactory: once(() => logTo(openLog(), logLevel)) });
  container.register(Metrics, {
    useFactory: once(
      () =>
        new Metrics({
          version,
          storage: database.scheme,
          methods: supportedMethods(config.http),
        }),
    ),
  });
  container.register(token.OBSERVER, { useFactory: once((c) => logObserver(c.resolve(token.LOGGER))) });
  container.register(token.OBSERVER, { useFactory: (c) => c.resolve(Metrics).observer });
}

/** The selected storage, a row of `STORE_ENGINES`, has an adapter for each of these ports. */
function registerStorage(container: DependencyContainer, storage: Storage): void {
  container.register(token.STORAGE, { useValue: storage });
  container.register(token.PET_REPOSITORY, { useValue: storage.pets });
  container.register(token.IDEMPOTENT_CREATES, { useValue: storage.idempotentCreates });
  container.register(token.PET_CHANGES, { useValue: storage.changes });
  container.register(token.IDEMPOTENT_CHANGES, { useValue: storage.idempotentChanges });
  container.register(token.PET_TRANSFER, { useValue: storage.transfer });
  container.register(token.API_KEY_REPOSITORY, { useValue: storage.apiKeys });
}

function registerUseCases(container: DependencyContainer, config: Config, report: ReportFailure): void {
  container.register(token.USE_CASES, {
    useFactory: once((c) =>
      createUseCases(
        {
          pets: c.resolve(token.PET_REPOSITORY),
          idempotentCreates: c.resolve(token.IDEMPOTENT_CREATES),
          changes: c.resolve(token.PET_CHANGES),
          idempotentChanges: c.resolve(token.IDEMPOTENT_CHANGES),
          transfer: c.resolve(token.PET_TRANSFER),
          apiKeys: c.resolve(token.API_KEY_REPOSITORY),
        },
        { ...config, report },
      ),
    ),
  });
  container.register(CreatePet, { useFactory: (c) => c.resolve(token.USE_CASES).createPet });
  container.register(ListPets, { useFactory: (c) => c.resolve(token.USE_CASES).listPets });
  container.register(GetPet, { useFactory: (c) => c.resolve(token.USE_CASES).getPet });
  container.register(ImportPets, { useFactory: (c) => c.resolve(token.USE_CASES).importPets });
  container.register(ApiKeys, { useFactory: (c) => c.resolve(token.USE_CASES).apiKeys });
  container.register(VerifyApiKey, { useFactory: (c) => c.resolve(token.USE_CASES).verifyApiKey });
}

function registerServer(container: DependencyContainer, config: Config, report: ReportFailure): void {
  container.register(AnimalStore, {
    useFactory: once((c) => new AnimalStore(c.resolve(token.STORAGE), c.resolve(token.USE_CASES), report)),
  });
  container.register(token.API_KEY_VERIFIER, {
    useFactory: once((c) => createApiKeyVerifier(c.resolve(VerifyApiKey), config.apiKeys)),
  });
  container.register(token.HTTP_SERVER, {
    useFactory: once((c) =>
      createServer(c.resolve(AnimalStore), {
        ...config.http,
        apiKeys: c.resolve(token.API_KEY_VERIFIER),
        observers: c.resolveAll(token.OBSERVER),
        metrics: c.resolve(Metrics),
      }),
    ),
  });
}
