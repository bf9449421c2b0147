import Router, { type RouterContext } from '@koa/router';
import type { Context, Middleware, Next } from 'koa';
import type { ApiResponse, Handler } from '../api/http.ts';
import type { Routes } from '../api/routes.ts';
import { KoaRequest } from './request.ts';
import { type RequestState, respond } from './respond.ts';

type RouteMiddleware = (ctx: RouterContext) => Promise<void> | void;

/**
 * Creates the middleware that finds the handler for the path of a request, calls the handler, and sends the response.
 */
export function router(routes: Routes): Middleware {
  const router = new Router({ sensitive: true, strict: true });
  for (const [path, handler] of routes) router.all(patternOf(path), run(path, handler));
  return (ctx, next) => dispatch(router, ctx as RouterContext, next);
}

/** Converts a path template to the syntax of @koa/router: `/v1/pets/{petId}` becomes `/v1/pets/:petId`. */
function patternOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/**
 * Calls the handler of the path, or `next` when no path matches. The middleware of @koa/router is not used, because it
 * composes a chain of handlers for each request. No chain is necessary, because each path has exactly one handler.
 */
function dispatch(router: Router, ctx: RouterContext, next: Next): unknown {
  const { path } = ctx;
  const [layer] = router.match(path, ctx.method).pathAndMethod;
  if (layer === undefined) return next();
  ctx.params = layer.paramNames.length === 0 ? {} : layer.params(path, layer.captures(path));
  const [middleware] = layer.stack as unknown as [RouteMiddleware];
  return middleware(ctx);
}

function run(path: string, handler: Handler): RouteMiddleware {
  return (ctx) => {
    (ctx.state as RequestState).route = path;
    const response = handler(new KoaRequest(ctx, ctx.params));
    if (!(response instanceof Promise)) return respond(ctx, response);
    return response.then((response: ApiResponse) => respond(ctx as Context, response));
  };
}
