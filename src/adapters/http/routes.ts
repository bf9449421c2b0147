/** Which path is whose, by the table of operations. */

import Router, { type RouterContext } from '@koa/router';
import type { Middleware, Next } from 'koa';
import { sendNoContent } from './answer.ts';
import type { HttpAppOptions } from './app.ts';
import { DOCS_ASSETS, docsAsset, openApi } from './docs.ts';
import { HttpError } from './errors.ts';
import { livez, readyz } from './health.ts';
import { OPERATIONS } from './operations.ts';
import { type Handler, petHandlers } from './pets.ts';

type Methods = Map<string, Handler>;

export function routes(options: HttpAppOptions): Middleware {
  const table = new Map<string, Methods>();
  const handlers = petHandlers(options);
  for (const { id, method, path } of OPERATIONS) {
    table.set(path, (table.get(path) ?? new Map()).set(method, handlers[id]));
  }
  table.set('/livez', new Map([['GET', livez]]));
  table.set('/readyz', new Map([['GET', readyz(options)]]));
  table.set('/openapi.json', new Map([['GET', openApi(options)]]));
  for (const asset of DOCS_ASSETS) table.set(asset.path, new Map([['GET', docsAsset(asset)]]));

  const router = new Router({ sensitive: true, strict: true });
  for (const [path, methods] of table) {
    router.all(path.replaceAll(/\{(\w+)\}/g, ':$1'), route(path, methods));
  }
  return (ctx, next) => dispatch(router, ctx as RouterContext, next);
}

/**
 * Calls the handler of a path. The router's own middleware makes a chain of middlewares for each request, a tenth of
 * its time. Safe without it, because no path here has more than one handler.
 */
function dispatch(router: Router, ctx: RouterContext, next: Next): ReturnType<Handler> | Promise<unknown> {
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
