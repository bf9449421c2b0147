/** Which path is whose, by the table of operations. */

import Router, { type RouterContext } from '@koa/router';
import type { Middleware } from 'koa';
import { sendNoContent } from './answer.ts';
import type { HttpAppOptions } from './app.ts';
import { DOCS_ASSETS, docsAsset, openApi } from './docs.ts';
import { HttpError } from './errors.ts';
import { livez, readyz } from './health.ts';
import { OPERATIONS } from './operations.ts';
import { type Handler, petHandlers } from './pets.ts';

type Methods = Map<string, Handler>;
type Table = Map<string, Methods>;

/** A router tries every path that it has: the API has one of its own, which is asked first and gains 4 % of a list. */
export function routes(options: HttpAppOptions): Middleware {
  const api = routerOf(apiTable(options));
  const others = routerOf(tableOfOthers(options));
  return (ctx, next) =>
    dispatch(api, ctx as RouterContext, () => dispatch(others, ctx as RouterContext, next));
}

function apiTable(options: HttpAppOptions): Table {
  const table: Table = new Map();
  const handlers = petHandlers(options);
  for (const { id, method, path } of OPERATIONS) {
    table.set(path, (table.get(path) ?? new Map()).set(method, handlers[id]));
  }
  return table;
}

function tableOfOthers(options: HttpAppOptions): Table {
  const handlers: (readonly [path: string, handler: Handler])[] = [
    ['/livez', livez],
    ['/readyz', readyz(options)],
    ['/openapi.json', openApi(options)],
    ...DOCS_ASSETS.map((asset) => [asset.path, docsAsset(asset)] as const),
  ];
  return new Map(handlers.map(([path, handler]) => [path, new Map([['GET', handler]])]));
}

function routerOf(table: Table): Router {
  const router = new Router({ sensitive: true, strict: true });
  for (const [path, methods] of table) {
    router.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), route(path, methods));
  }
  return router;
}

/**
 * Calls the handler of a path. The router's own middleware makes a chain of middlewares for each request, a tenth of
 * its time. Safe without it, because no path here has more than one handler.
 */
function dispatch(router: Router, ctx: RouterContext, next: () => unknown): unknown {
  const [layer] = router.match(ctx.path, ctx.method).pathAndMethod;
  if (layer === undefined) return next();
  ctx.params = layer.params(ctx.path, layer.captures(ctx.path));
  const [handler] = layer.stack as [Handler];
  return handler(ctx);
}

/** HEAD is answered as GET, and Node.js leaves out the body; OPTIONS tells what there is. */
function route(path: string, methods: Methods): Handler {
  const allow = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const allowed = ['Allow', [...allow, 'OPTIONS'].join(', ')];
  return (ctx) => {
    ctx.state['route'] = path;
    const handler = methods.get(ctx.method === 'HEAD' ? 'GET' : ctx.method);
    if (handler !== undefined) return handler(ctx);
    if (ctx.method !== 'OPTIONS') {
      throw new HttpError('method_not_allowed', `${ctx.method} is not allowed here`, allowed);
    }
    return sendNoContent(ctx, allowed);
  };
}
