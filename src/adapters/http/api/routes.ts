import { described } from '../../../application/arguments.ts';
import { DOCS_ASSETS, docsAsset } from '../docs/assets.ts';
import { openApi } from '../docs/openapi.ts';
import type { Admission } from './admission.ts';
import { needsApiKey } from './authentication.ts';
import { HttpError, methodNotAllowed, noSuchPath, SERVER_METHODS } from './errors.ts';
import type { Handler } from './exchange.ts';
import { API_HEADERS, NO_STORE } from './headers.ts';
import { livez, readyz } from './health.ts';
import { OPERATIONS } from './operations.ts';
import type { HttpOptions, HttpStore, MetricsText } from './options.ts';
import { petHandlers } from './pets.ts';
import { noContent } from './responses.ts';
import { root } from './root.ts';

export const METRICS_PATH = '/metrics';

/** The method is GET by default. */
type Endpoint = readonly [path: string, handler: Handler, method?: string];

/** The handlers by path template, such as `/v1/pets/{petId}`. */
export type Routes = ReadonlyMap<string, Handler>;

/** @param prefix the path in front of `/v1` in the links of responses */
export function createRoutes(
  store: HttpStore,
  admission: Admission,
  options: HttpOptions,
  prefix: string,
): Routes {
  const { metrics } = options;
  const pets = petHandlers(store, admission, prefix);
  const endpoints: readonly Endpoint[] = [
    ...OPERATIONS.map(({ id, method, path }) => [path, pets[id], method] as const),
    ['/livez', livez],
    ['/readyz', readyz(store, admission)],
    ...(metrics === undefined ? [] : [[METRICS_PATH, metricsHandler(metrics)] as const]),
    ['/openapi.json', openApi(options)],
    ...DOCS_ASSETS.map((asset) => [asset.path, docsAsset(asset)] as const),
  ];
  const routes = new Map([['/', root(prefix)]]);
  for (const [path, methods] of Map.groupBy(endpoints, ([path]) => path)) routes.set(path, byMethod(methods));
  return routes;
}

function metricsHandler(metrics: MetricsText): Handler {
  return async () => {
    const { contentType } = metrics;
    const body = await metrics.text();
    for (const text of [contentType, body]) {
      if (typeof text !== 'string') throw new TypeError(`metrics: expected strings, got ${described(text)}`);
    }
    return { status: 200, headers: [...API_HEADERS, 'Content-Type', contentType, ...NO_STORE], body };
  };
}

/** Handles requests whose path has no route. Only `OPTIONS *`, which is about the whole server, has no error. */
export const notFound: Handler = ({ head, carried }) => {
  if (head.method === 'OPTIONS' && head.url === '*') return noContent(ALLOW_ALL);
  const [path = ''] = (head.url ?? '').split('?', 1);
  if (path.endsWith('/')) throw new HttpError('not_found', 'no such path: paths have no slash at the end');
  throw needsApiKey(carried.path) ? noSuchPath([], PATHS) : noSuchPath();
};

const PATHS = `expected ${[...new Set(OPERATIONS.map(({ path }) => path))].join(' or ')}`;

const ALLOW_ALL = ['Allow', SERVER_METHODS.join(', ')];

/** Creates the handler of a path from those of its methods. HEAD is handled like GET: the carrier omits the body. */
function byMethod(endpoints: readonly Endpoint[]): Handler {
  const handlers = new Map(endpoints.map(([, handler, method = 'GET']) => [method, handler]));
  const methods = [...handlers.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const allowed = [...methods, 'OPTIONS'];
  return (exchange) => {
    const { method = '' } = exchange.head;
    const handler = handlers.get(method === 'HEAD' ? 'GET' : method);
    if (handler !== undefined) return handler(exchange);
    if (method === 'OPTIONS') return noContent(['Allow', allowed.join(', ')]);
    throw methodNotAllowed(method, allowed);
  };
}
