/** `animal-store/http`: the API over a store of one's own, as a Koa app or as a server. */

import type Koa from 'koa';
import type { Middleware } from 'koa';
import { CreatePet } from '../../application/create-pet.ts';
import { GetPet } from '../../application/get-pet.ts';
import { ListPets } from '../../application/list-pets.ts';
import type { ApiKeyVerifier, Storage } from '../../application/ports.ts';
import { type OnAnswer, type OnError, sendError } from './answer.ts';
import { createHttpApp as createApp } from './app.ts';
import { createHttpServer, type HttpServer } from './server.ts';

export type { AnsweredRequest, OnAnswer, OnError } from './answer.ts';
export type { HttpServer } from './server.ts';

/** What is served: an `AnimalStore`, or anything else over the same ports. */
export interface HttpStore {
  readonly storage: Pick<Storage, 'pets' | 'apiKeys' | 'check'>;
}

/** How the API is served. */
export interface HttpOptions {
  /** Who may call. The store's own keys when left out: there is no way to serve the API to everybody. */
  readonly apiKeys?: ApiKeyVerifier | undefined;
  /** Origins that browsers may call from, such as `https://example.org`; none means no CORS header at all. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Told of every answered request, after the answer. */
  readonly onAnswer?: OnAnswer | undefined;
  /** Told what was behind an answer of 500 or more, which the client does not learn. */
  readonly onError?: OnError | undefined;
}

/**
 * The API as a Koa app, for a server that is there already: `app.callback()` is a listener for requests under `/v1`,
 * which must come with their body unread. The app holds nothing that has to be closed, and leaves the store open.
 */
export function createHttpApp(store: HttpStore, options: HttpOptions = {}): Koa {
  return appOver(store, options);
}

/** The API as a server of its own, which stops in good order. It leaves the store open. */
export function createServer(store: HttpStore, options: HttpOptions = {}): HttpServer {
  const { onAnswer } = options;
  return createHttpServer((server) => appOver(store, options, () => server.isStopping), { onAnswer });
}

function appOver({ storage }: HttpStore, options: HttpOptions, isStopping?: () => boolean): Koa {
  const app = createApp({
    ...options,
    createPet: new CreatePet(storage.pets),
    listPets: new ListPets(storage.pets),
    getPet: new GetPet(storage.pets),
    apiKeys: options.apiKeys ?? storage.apiKeys,
    check: () => storage.check(),
    isStopping,
  });
  app.middleware.unshift(guest(app));
  return app;
}

/** In another Koa app (koa-mount) an error would go to that one, which does not know how we answer it. */
function guest(app: Koa): Middleware {
  return async (ctx, next) => {
    if (ctx.app === app) return next();
    const { state } = ctx;
    try {
      await next();
    } catch (error) {
      sendError(ctx, error);
    } finally {
      ctx.state = state;
    }
  };
}
