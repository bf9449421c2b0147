/** The routes of the API, and what is said of all other paths and methods. */

import Router, { type RouterMiddleware } from '@koa/router';
import Negotiator from 'negotiator';
import { storageFaultReason } from '../../application/ports/storage-fault.ts';
import { type Context, METRICS_PATH, needsApiKey, type Stage } from './context.ts';
import { DOCS_ASSETS, docsAsset } from './docs/assets.ts';
import { openApi } from './docs/openapi.ts';
import { HttpError, methodNotAllowed, STATUS_OF } from './errors.ts';
import { OPERATIONS, type Operation, SERVER_METHODS } from './operations.ts';
import type { HttpOptions, HttpStore, MetricsText } from './options.ts';
import type { Load } from './overload.ts';
import { noContent, respondJson } from './responses.ts';

/**
 * Calls the handler of a request, or else `next`. A router tries all its routes in turn, so the API has one of its own.
 *
 * @param stagesOf returns what is called for an operation
 */
export function routes(stagesOf: (operation: Operation) => readonly Stage[], others: Router): Stage {
  const api = newRouter();
  for (const operation of OPERATIONS) {
    const { method, path } = operation;
    // In the syntax of @koa/router, `/v1/pets/{petId}` is `/v1/pets/:petId`.
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    api.register(pattern, [method], [...stagesOf(operation)] as RouterMiddleware[], { name: path });
  }
  const [ofApi, ofOthers] = [api.routes() as Stage, others.routes() as Stage];
  return (ctx, next) => {
    const { path } = ctx.state.animalStore;
    // The router would take `ctx.path`, which a middleware of a user can have changed after the check of the key.
    Object.assign(ctx, { newRouterPath: path });
    return needsApiKey(path) ? ofApi(ctx, next) : ofOthers(ctx, next);
  };
}

function newRouter(): Router {
  return new Router({ sensitive: true, strict: true });
}

/** @param prefix the path in front of `/docs` in the links of responses */
export function otherRoutes(store: HttpStore, load: Load, options: HttpOptions, prefix: string): Router {
  const router = newRouter();
  const get = (path: string, handler: Stage) => router.get(path, path, handler as RouterMiddleware);
  get('/livez', livez);
  get('/readyz', readyz(store, load));
  if (options.metrics !== undefined) get(METRICS_PATH, metricsText(options.metrics));
  get('/openapi.json', openApi(options));
  for (const asset of DOCS_ASSETS) get(asset.path, docsAsset(asset));
  router.all('/', '/', root(prefix) as RouterMiddleware);
  return router;
}

const livez: Stage = (ctx) => respondJson(ctx, 200, '{"status":"ok"}');

function readyz(store: HttpStore, load: Load): Stage {
  return async (ctx) => {
    if (load.isStopping) return unavailable(ctx, 'stopping');
    try {
      await store.check();
    } catch (error) {
      return unavailable(ctx, storageFaultReason(error) ?? 'storage');
    }
    return respondJson(ctx, 200, '{"status":"ok"}');
  };
}

function unavailable(ctx: Context, reason: string): void {
  ctx.set('Retry-After', '1');
  respondJson(ctx, STATUS_OF.storage_unavailable, JSON.stringify({ status: 'unavailable', reason }));
}

function metricsText(metrics: MetricsText): Stage {
  return async (ctx) => {
    respondJson(ctx, 200, await metrics.text());
    ctx.set('Content-Type', metrics.contentType);
  };
}

/** The first one is for clients without a preference. */
const MEDIA_TYPES = ['application/json', 'text/html'];

/** Redirects a client that prefers HTML to JSON, such as a browser, to the reference page. Others get `not_found`. */
function root(prefix: string): Stage {
  return (ctx) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw noSuchPath();
    ctx.vary('Accept');
    const headers = { accept: ctx.req.headers['accept'] as string | undefined };
    if (new Negotiator({ headers }).mediaType(MEDIA_TYPES) !== 'text/html') throw noSuchPath();
    ctx.status = 303;
    ctx.set({ Location: `${prefix}/docs`, 'Cache-Control': 'no-store' });
    ctx.body = '';
    ctx.remove('Content-Type');
  };
}

/** Handles what no route has handled: OPTIONS, other methods of a path (405), and unknown paths (404). */
export const refuseUnrouted: Stage = (ctx) => {
  const { method, url, matched = [] } = ctx;
  const isForServer = method === 'OPTIONS' && url === '*';
  if (matched.length === 0 && !isForServer) throw unknownPath(ctx);
  const methods = new Set(matched.flatMap((route) => route.methods)).add('OPTIONS');
  const allowed = isForServer ? SERVER_METHODS : SERVER_METHODS.filter((each) => methods.has(each));
  if (method !== 'OPTIONS') throw methodNotAllowed(method, allowed);
  ctx.set('Allow', allowed.join(', '));
  noContent(ctx);
};

const PATHS = `expected ${[...new Set(OPERATIONS.map(({ path }) => path))].join(' or ')}`;

function unknownPath({ url, state }: Context): HttpError {
  const [path = ''] = url.split('?', 1);
  if (path.endsWith('/')) return new HttpError('not_found', 'no such path: paths have no slash at the end');
  return needsApiKey(state.animalStore.path) ? noSuchPath(PATHS) : noSuchPath();
}

function noSuchPath(expected = 'the API is under /v1'): HttpError {
  return new HttpError('not_found', `no such path; ${expected}`);
}
