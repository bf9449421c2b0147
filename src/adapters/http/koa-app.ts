import Koa from 'koa';
import { type Api, createApi } from './app.ts';
import type { HttpOptions, HttpStore } from './options.ts';
import type { ApiState } from './state.ts';

/**
 * Creates the API as a Koa app for an existing server. `app.callback()` returns a function that handles requests under
 * `/v1` and to the public paths, such as `/docs`. The server must call this function before anything reads the body of
 * the request. The app itself does not need to be closed. The caller closes the store.
 */
export function createHttpApp(store: HttpStore, options: HttpOptions = {}): Koa {
  return createApp(createApi(store, options), options);
}

export function createApp({ stages, reportFailure }: Api, { trustedProxies = 0 }: HttpOptions): Koa {
  // Koa reads `maxIpsCount: 0` as no limit.
  const app = new Koa({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  for (const stage of stages) app.use(stage);
  // Koa reports the errors of connections too, which are no fault of the program.
  app.on(
    'error',
    (error: unknown, ctx?: { state: Partial<ApiState>; body?: { errored?: unknown } | null }) => {
      const { failure, requestId } = ctx?.state.animalStore ?? {};
      if (ctx?.body?.errored === error) reportFailure('the stream of a response body', error);
      if (app.listenerCount('error') === 1 && failure === error)
        console.error(`request ${requestId}:`, error);
    },
  );
  return app;
}
