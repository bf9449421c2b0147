import Router from '@koa/router';
import { storageFaultReason } from '../../application/ports/storage-fault.ts';
import { AnimalStoreError, asAnimalStoreError } from '../../domain/errors.ts';
import { parseInt64 } from '../../domain/int64.ts';
import { requireWriteAccess } from './authentication.ts';
import { parseJson, readBody, requireJson, requirePatch } from './body.ts';
import { changeHandlers } from './changes.ts';
import { DOCS_ASSETS, docsAsset } from './docs/assets.ts';
import { openApi } from './docs/openapi.ts';
import { METHODS, type Operation } from './operations.ts';
import type { HttpOptions, HttpStore } from './options.ts';
import type { Load } from './overload.ts';
import { METRICS_PATH } from './paths.ts';
import { petHandlers } from './pets.ts';
import { respondJson } from './respond.ts';
import type { ApiMiddleware, ApiState } from './state.ts';

/** The name of a route is its path template, such as `/v1/pets/{petId}`. */
export function createRouter(
  operations: readonly Operation[],
  store: HttpStore,
  prefix: string,
  load: Load,
  options: HttpOptions,
): Router<ApiState> {
  const router = new Router<ApiState>({ sensitive: true, strict: true });
  const handlers = { ...petHandlers(store, prefix, operations), ...changeHandlers(store, prefix) };
  for (const { id, method, path } of operations) {
    // In the syntax of @koa/router, `/v1/pets/{petId}` is `/v1/pets/:petId`.
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    router.register(pattern, [method], [...checksOf(method), callStore, handlers[id]], { name: path });
  }
  const get = (path: string, handler: ApiMiddleware) => router.get(path, path, handler);
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
  return router;
}

function checksOf(method: Operation['method']): readonly ApiMiddleware[] {
  const { isRead, hasBody } = METHODS[method];
  return [
    ...(isRead ? [] : [requireWriteAccess]), // 403: the key is read-only
    ...(hasBody ? [method === 'PATCH' ? requirePatch : requireJson, readBody, parseJson] : []), // 415; 413, 400; 400
  ];
}

/**
 * Calls the handler of an operation. The store can be on another server. If that server refuses the API key of this
 * server, or limits the rate of this server, the client is not at fault, so the error gets another code.
 */
const callStore: ApiMiddleware = async ({ params: { petId } }, next) => {
  try {
    await next();
  } catch (cause) {
    const { code, retryAfter } = asAnimalStoreError(cause) ?? {};
    if (code === 'rate_limited')
      throw new AnimalStoreError('overloaded', 'the store limits its requests', { cause, retryAfter });
    if (code === 'unauthorized' || code === 'forbidden')
      throw new AnimalStoreError('internal_error', 'the store refuses the API key of this server', { cause });
    // The store has looked for the id 0 (`petIdOf`), so its message would name that id.
    if (code === 'not_found' && petId !== undefined && parseInt64(petId) === undefined)
      throw new AnimalStoreError('not_found', 'there is no such pet: an id is an int64', { cause });
    throw cause;
  }
};

const OK = '{"status":"ok"}';

function readyz(store: HttpStore, load: Load): ApiMiddleware {
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
