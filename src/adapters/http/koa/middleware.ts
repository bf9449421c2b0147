import type Koa from 'koa';
import compose from 'koa-compose';
import { BOOLEAN } from '../../../application/arguments.ts';
import { createApi } from '../api/app.ts';

import { type Context, isHealthCheck, METRICS_PATH, needsApiKey } from '../api/context.ts';
import { pathOf } from '../api/observe.ts';
import { HTTP_OPTIONS, type HttpOptions, type HttpStore } from '../api/options.ts';
import { KOA_CARRIER } from './carrier.ts';

/** The options of {@link animalStore}. The path `/metrics` belongs to the middleware if the option `metrics` is set. */
export interface MiddlewareOptions extends HttpOptions {
  /** Whether `/docs` and `/openapi.json` belong to the middleware. Default: `false`. */
  readonly docs?: boolean | undefined;
  /** Whether `/livez` and `/readyz` belong to the middleware. Default: `false`. */
  readonly health?: boolean | undefined;
}

/** Creates the API as a middleware of an ordinary Koa app. */
export function createMiddleware(
  store: HttpStore,
  { docs = false, health = false, ...options }: MiddlewareOptions,
): Koa.Middleware {
  const rules = { ...HTTP_OPTIONS, docs: BOOLEAN, health: BOOLEAN };
  const api = createApi(store, { ...options, docs, health } as HttpOptions, KOA_CARRIER, rules);
  const handle = compose([...api.stages] as Koa.Middleware[]);
  const isOurs = (path: string): boolean =>
    needsApiKey(path) ||
    (docs && (path === '/openapi.json' || path === '/docs' || path.startsWith('/docs/'))) ||
    (health && isHealthCheck(path)) ||
    (options.metrics !== undefined && path === METRICS_PATH);
  return (ctx, next) => (isOurs(pathOf(ctx as Context)) ? handle(ctx) : next());
}
