import Router, { type RouterMiddleware } from '@koa/router';
import type { Stage } from '../api/context.ts';
import type { CreateRouter } from '../api/routes.ts';

/** Routes with @koa/router. */
export const createRouter: CreateRouter = (endpoints) => {
  const router = new Router({ sensitive: true, strict: true });
  for (const { path, method, handlers } of endpoints) {
    // In the syntax of @koa/router, `/v1/pets/{petId}` is `/v1/pets/:petId`.
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    const middleware = [...handlers] as RouterMiddleware[];
    if (method === 'GET') router.get(path, pattern, ...middleware);
    else if (method === 'POST') router.post(path, pattern, ...middleware);
    else router.all(path, pattern, ...middleware);
  }
  const route = router.routes() as Stage;
  return (ctx, next) => {
    // The router would take `ctx.path`, which an app that mounts the API can have changed.
    Object.assign(ctx, { newRouterPath: ctx.state.animalStore.path });
    return route(ctx, next);
  };
};
