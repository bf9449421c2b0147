/** The carrier for Koa: passes the requests of a Koa app to the API. */

import Koa, { type Context } from 'koa';
import type { Api } from '../api/api.ts';
import { KoaRequest } from './koa-request.ts';

/**
 * A Koa app that only runs the middleware. The base class would also listen for the end of each response, which costs more than
 * the rest of Koa (bench/README.md), and send `ctx.body`. `Api` handles all errors itself.
 */
class App extends Koa {
  handleRequest(ctx: Context, run: (ctx: Context) => Promise<void>): Promise<void> {
    return run(ctx);
  }
}

/** Creates the API as a Koa app. The app does not open a port, and does not need to be closed. */
export function createApp(api: Api): Koa {
  const app = new App();
  app.use((ctx) => {
    // Another Koa app, in which this one is mounted, sends no response of its own.
    ctx.respond = false;
    return api.handle(new KoaRequest(ctx));
  });
  return app;
}
