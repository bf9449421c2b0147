/** Which class gets what. The only file that knows tsyringe; no class is decorated. */

import 'reflect-metadata';
import {
  type DependencyContainer,
  type InjectionToken,
  instanceCachingFactory,
  container as root,
} from 'tsyringe';
import { createHttpApp } from '../adapters/http/app.ts';
import { createHttpServer, type HttpServer } from '../adapters/http/server.ts';
import { ApiKeys } from '../application/api-keys.ts';
import { CreatePet } from '../application/create-pet.ts';
import { GetPet } from '../application/get-pet.ts';
import { ListPets } from '../application/list-pets.ts';
import type { ApiKeyVerifier, Storage } from '../application/ports.ts';
import type { Config } from './config.ts';
import { connectionsWithinDescriptors } from './descriptors.ts';
import { errorLog, type Logger, requestLog } from './log.ts';
import { allKeys } from './verifiers.ts';

export const HTTP_SERVER: InjectionToken<HttpServer> = Symbol('HttpServer');
const API_KEY_VERIFIER: InjectionToken<ApiKeyVerifier> = Symbol('ApiKeyVerifier');

/** Everything the service is made of, each part made once and when it is first asked for. */
export function createContainer(config: Config, storage: Storage, log: Logger): DependencyContainer {
  const container = root.createChildContainer();
  const provide = <T>(token: InjectionToken<T>, make: (parts: DependencyContainer) => T): void => {
    container.register(token, { useFactory: instanceCachingFactory(make) });
  };
  provide(CreatePet, () => new CreatePet(storage.pets));
  provide(ListPets, () => new ListPets(storage.pets));
  provide(GetPet, () => new GetPet(storage.pets));
  provide(ApiKeys, () => new ApiKeys(storage.apiKeys));
  provide(API_KEY_VERIFIER, () => allKeys(storage.apiKeys, config.apiKeys));
  provide(HTTP_SERVER, (parts) => {
    const onAnswer = requestLog(log);
    return createHttpServer(
      (server) =>
        createHttpApp({
          createPet: parts.resolve(CreatePet),
          listPets: parts.resolve(ListPets),
          getPet: parts.resolve(GetPet),
          apiKeys: parts.resolve(API_KEY_VERIFIER),
          check: () => storage.check(),
          isStopping: () => server.isStopping,
          publicUrl: config.publicUrl,
          corsOrigins: config.corsOrigins,
          onAnswer,
          onError: errorLog(log),
        }),
      { onAnswer, maxConnections: config.maxConnections ?? connectionsWithinDescriptors() },
    );
  });
  return container;
}
