import Koa, { type Context } from 'koa';
import type { Api } from '../api/app.ts';
import { beginRequest } from '../api/begin-request.ts';
import type { Context as ApiContext } from '../api/context.ts';
import { respondWithError } from '../api/send-errors.ts';
import { collectFields, writeResponse } from './response.ts';

type Sent = Context & { sent?: () => void };

/** A Koa app whose responses are written at once. The base class would also listen for the end of each response. */
class App extends Koa {
  readonly #api: Api;

  constructor(api: Api) {
    super();
    this.#api = api;
    collectFields(this);
    this.context['onceSent'] = function onceSent(this: Sent, listener: () => void) {
      this.sent = listener;
    };
    for (const stage of api.stages) this.use(stage as Koa.Middleware);
  }

  async handleRequest(ctx: Sent, run: (ctx: Context) => Promise<void>): Promise<void> {
    ctx.res.statusCode = 404;
    try {
      await run(ctx);
      writeResponse(ctx);
    } catch (error) {
      // The response cannot be written, or a middleware in front of the list has thrown the error.
      const apiContext = ctx as Sent & ApiContext;
      if (apiContext.state.animalStore === undefined) beginRequest(apiContext, this.#api.settings);
      respondWithError(apiContext, error, this.#api.observer);
      writeResponse(ctx);
    }
    ctx.sent?.();
  }
}

export function createApp(api: Api): Koa {
  return new App(api);
}
