/** The routes of the API, and what is said of all other paths and methods. */

import Router, { type RouterMiddleware } from '@koa/router';
import { storageFaultReason } from '../../application/ports/storage-fault.ts';
import { type Context, METRICS_PATH, needsApiKey, noContent, respondJson, type Stage } from './context.ts';
import { DOCS_ASSETS, docsAsset } from './docs/assets.ts';
import { openApi } from './docs/openapi.ts';
import { HttpError, methodNotAllowed } from './errors.ts';
import { OPERATIONS, type Operation, SERVER_METHODS } from './operations.ts';
import type { HttpOptions, HttpStore } from './options.ts';
import type { Load } from './overload.ts';

const EXACT = { sensitive: true, strict: true };

/** Calls the stages of the operation that is requested, or the handler of another path, or else `next`. */
export function routes(
  stagesOf: (operation: Operation) => readonly Stage[],
  store: HttpStore,
  load: Load,
  options: HttpOptions,
): Stage {
  // A router tries all its routes in turn, so the API has one of its own.
  const [api, others] = [new Router(EXACT), new Router(EXACT)];
  for (const operation of OPERATIONS) {
    const { method, path } = operation;
    // In the syntax of @koa/router, `/v1/pets/{petId}` is `/v1/pets/:petId`.
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    api.register(pattern, [method], [...stagesOf(operation)] as RouterMiddleware[], { name: path });
  }
  const get = (path: string, handler: Stage) => others.get(path, path, handler as RouterMiddleware);
  const { metrics } = options;
  get('/livez', (ctx) => respondJson(ctx, 200, OK));
  get('/readyz', readyz(store, load));
  if (metrics !== undefined) {
    get(METRICS_PATH, async (ctx) => {
      respondJson(ctx, 200, await metrics.text());
      ctx.set('Content-Type', metrics.contentType);
    });
  }
  get('/openapi.json', openApi(options));
  for (const asset of DOCS_ASSETS) get(asset.path, docsAsset(asset));
  const [ofApi, ofOthers] = [api.routes() as Stage, others.routes() as Stage];
  return (ctx, next) => {
    const { path } = ctx.state.animalStore;
    // The router would take `ctx.path`, which a middleware of a user can have changed after the check of the key.
    Object.assign(ctx, { newRouterPath: path });
    return needsApiKey(path) ? ofApi(ctx, next) : ofOthers(ctx, next);
  };
}

const OK = '{"status":"ok"}';

function readyz(store: HttpStore, load: Load): Stage {
  return async (ctx) => {
    let reason = load.isStopping ? 'stopping' : undefined;
    try {
      if (reason === undefined) await store.check();
    } catch (error) {
      reason = storageFaultReason(error) ?? 'storage';
    }
    if (reason === undefined) return respondJson(ctx, 200, OK);
    ctx.set('Retry-After', '1');
    respondJson(ctx, 503, JSON.stringify({ status: 'unavailable', reason }));
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

const PATHS = [...new Set(OPERATIONS.map(({ path }) => path))].join(' or ');

function unknownPath({ url, state }: Context): HttpError {
  const [path = ''] = url.split('?', 1);
  const hint = needsApiKey(state.animalStore.path)
    ? `; expected ${PATHS}`
    : '; the API is under /v1, and its reference at /docs';
  const hasSlash = path.length > 1 && path.endsWith('/');
  return new HttpError('not_found', `no such path${hasSlash ? ': paths have no slash at the end' : hint}`);
}
