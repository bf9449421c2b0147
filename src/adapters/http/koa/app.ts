import Koa, { type Context } from 'koa';
import type { Api } from '../api/api.ts';
import { KoaRequest } from './koa-request.ts';

/**
 * A Koa app that only runs the middleware. The base class would also listen for the end of each response, which costs more
 * than the rest of Koa (bench/README.md), and send `ctx.body`.
 */
class App extends Koa {
  handleRequest(ctx: Context, run: (ctx: Context) => Promise<void>): Promise<void> {
    return run(ctx);
  }
}

export function createApp(api: Api): Koa {
  const app = new App();
  app.use((ctx) => {
    // Another Koa app, in which this one is mounted, sends no response of its own.
    ctx.respond = false;
    return api.handle(new KoaRequest(ctx));
  });
  return app;
}
