/** Maps each path and method of the server to a handler. */

import { docsRoutes } from '../docs/assets.ts';
import { openApi } from '../openapi/handler.ts';
import type { Admission } from './admission.ts';
import { deprecationHeaders } from './deprecation.ts';
import { HttpError, methodNotAllowed, noSuchPath, SERVER_METHODS } from './errors.ts';
import { livez, readyz } from './health.ts';
import type { Handler, Headers } from './http.ts';
import { METRICS_PATH, metricsHandler } from './metrics.ts';
import { OPERATIONS } from './operations.ts';
import type { HttpOptions, HttpStore } from './options.ts';
import { petHandlers } from './pets.ts';
import { noContent } from './responses.ts';
import { root } from './root.ts';

/** The handler of each path. The keys are path templates, such as `/v1/pets/{petId}`. */
export type Routes = ReadonlyMap<string, Handler>;

/**
 * Creates the routes under `/v1`, which need an API key.
 *
 * @param prefix the path in front of `/v1` in the links of responses
 */
export function apiRoutes(store: HttpStore, admission: Admission, prefix: string): Routes {
  const handlers = petHandlers(store, admission, prefix);
  const deprecation = deprecationHeaders(prefix);
  const paths = new Map<string, Map<string, Handler>>();
  for (const { id, method, path } of OPERATIONS) {
    paths.set(path, (paths.get(path) ?? new Map()).set(method, handlers[id]));
  }
  return new Map([...paths].map(([path, methods]) => [path, byMethod(methods, deprecation)]));
}

/** Creates the routes outside `/v1`, such as `/docs`. Of these, only `/metrics` needs an API key. */
export function publicRoutes(store: HttpStore, admission: Admission, options: HttpOptions): Routes {
  const routes: (readonly [path: string, handler: Handler])[] = [
    ['/livez', livez],
    ['/readyz', readyz(store, admission)],
    ...(options.metrics === undefined ? [] : [[METRICS_PATH, metricsHandler(options.metrics)] as const]),
    ['/openapi.json', openApi(options)],
    ...docsRoutes(options),
  ];
  return new Map([
    ['/', root(options)],
    ...routes.map(([path, handler]) => [path, byMethod(new Map([['GET', handler]]), [])] as const),
  ]);
}

/**
 * Handles requests whose path has no route. The response to `OPTIONS *` lists the methods that the server supports. For
 * every other request, throws `not_found`.
 */
export const notFound: Handler = ({ head }) => {
  if (head.method === 'OPTIONS' && head.url === '*') return noContent(head, ALLOW_ALL, []);
  const [path = ''] = (head.url ?? '').split('?', 1);
  if (path.endsWith('/')) throw new HttpError('not_found', 'no such path: paths have no slash at the end');
  throw noSuchPath();
};

const ALLOW_ALL = ['Allow', SERVER_METHODS.join(', ')];

/**
 * Creates the handler of a path from the handlers of its methods. A HEAD request is handled like a GET request, and
 * Node.js omits the body of the response. The response to OPTIONS lists the methods of the path. For any other method
 * without a handler, throws `method_not_allowed`.
 */
function byMethod(methods: ReadonlyMap<string, Handler>, deprecation: Headers): Handler {
  const allow = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const methodNames = [...allow, 'OPTIONS'];
  const allowed = ['Allow', methodNames.join(', ')];
  return (request) => {
    const { method = '' } = request.head;
    const handler = methods.get(method === 'HEAD' ? 'GET' : method);
    if (handler !== undefined) return handler(request);
    if (method === 'OPTIONS') return noContent(request.head, allowed, deprecation);
    throw methodNotAllowed(method, methodNames);
  };
}
