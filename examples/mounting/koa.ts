/** The API in a Koa app. */

import type { Server } from 'node:http';
import type { AnimalStore } from 'animal-store';
import { createHttpApp } from 'animal-store/http';
import Koa from 'koa';

export async function serve(store: AnimalStore): Promise<Server> {
  const pets = createHttpApp(store).callback();
  const app = new Koa();
  app.use((ctx, next) => {
    if (!/^\/v1(?:\/|$)/.test(ctx.path)) return next();
    ctx.respond = false;
    return pets(ctx.req, ctx.res);
  });
  app.use((ctx) => {
    ctx.body = 'the rest of the site';
  });
  return new Promise((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server));
  });
}
