import Negotiator from 'negotiator';
import { described } from '../../../application/arguments.ts';
import { storageFaultReason } from '../../../application/ports/storage-fault.ts';
import { DOCS_ASSETS, docsAsset } from '../docs/assets.ts';
import { openApi } from '../docs/openapi.ts';
import { type Context, METRICS_PATH, needsApiKey, type Stage } from './context.ts';
import { HttpError, methodNotAllowed, noSuchPath, SERVER_METHODS, STATUS_OF } from './errors.ts';
import type { Load } from './load.ts';
import { OPERATIONS } from './operations.ts';
import type { HttpOptions, HttpStore, MetricsText } from './options.ts';
import type { PetRoutes } from './pets.ts';
import { checkRead, noContent, respondJson } from './responses.ts';

export interface Endpoint {
  /** The path template, such as `/v1/pets/{petId}`. */
  readonly path: string;
  /** `GET` includes `HEAD`. Without a method, the handlers handle every method. */
  readonly method?: 'GET' | 'POST';
  readonly handlers: readonly Stage[];
}

/** Creates the stage that calls the handlers of an endpoint, or else `next`, and sets `ctx.matched` and `ctx.params`. */
export type CreateRouter = (endpoints: readonly Endpoint[]) => Stage;

/**
 * @param prefix the path in front of `/docs` in the links of responses
 */
export function endpointsOf(
  pets: PetRoutes,
  store: HttpStore,
  load: Load,
  options: HttpOptions,
  prefix: string,
): readonly Endpoint[] {
  const get = (path: string, handler: Stage): Endpoint => ({ path, method: 'GET', handlers: [handler] });
  return [
    ...OPERATIONS.map(({ id, method, path }) => ({ path, method, handlers: pets[id] })),
    get('/livez', livez),
    get(
      '/readyz',
      readyz(store, () => load.isStopping),
    ),
    ...(options.metrics === undefined ? [] : [get(METRICS_PATH, metricsHandler(options.metrics))]),
    get('/openapi.json', openApi(options)),
    ...DOCS_ASSETS.map((asset) => get(asset.path, docsAsset(asset))),
    { path: '/', handlers: [root(prefix)] },
  ];
}

function metricsHandler(metrics: MetricsText): Stage {
  return async (ctx) => {
    const { contentType } = metrics;
    const body = await metrics.text();
    for (const text of [contentType, body]) {
      if (typeof text !== 'string') throw new TypeError(`metrics: expected strings, got ${described(text)}`);
    }
    checkRead(ctx, undefined);
    ctx.status = 200;
    ctx.set('Content-Type', contentType);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = body;
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

function unknownPath({ url, state }: Context): HttpError {
  const [path = ''] = url.split('?', 1);
  if (path.endsWith('/')) return new HttpError('not_found', 'no such path: paths have no slash at the end');
  return needsApiKey(state.animalStore.path) ? noSuchPath(PATHS) : noSuchPath();
}

const PATHS = `expected ${[...new Set(OPERATIONS.map(({ path }) => path))].join(' or ')}`;

const livez: Stage = (ctx) => respondJson(ctx, 200, '{"status":"ok"}');

function readyz(store: HttpStore, isStopping: () => boolean): Stage {
  return async (ctx) => {
    if (isStopping()) return unavailable(ctx, 'stopping');
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

/** The first one is for clients without a preference. */
const MEDIA_TYPES = ['application/json', 'text/html'];

/** Redirects a client that prefers HTML to JSON, such as a browser, to the reference page. Others get `not_found`. */
function root(prefix: string): Stage {
  return (ctx) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw noSuchPath();
    ctx.vary('Accept');
    const headers = { accept: ctx.headers['accept'] as string | undefined };
    if (new Negotiator({ headers }).mediaType(MEDIA_TYPES) !== 'text/html') throw noSuchPath();
    ctx.status = 303;
    ctx.set('Location', `${prefix}/docs`);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = '';
    ctx.remove('Content-Type');
  };
}
