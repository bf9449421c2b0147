import compose from 'koa-compose';
import type { Api, Carrier } from '../api/app.ts';
import type { Context, Stage } from '../api/context.ts';
import type { ReadBytes } from '../api/json-body.ts';
import { respondWithError } from '../api/send-errors.ts';
import { readRequest } from './body.ts';
import { FetchContext, type FetchInfo } from './context.ts';
import { createTemplateRouter } from './router.ts';

/** Responds to a request, also if it fails. */
export type FetchHandler = (request: Request, info?: FetchInfo) => Promise<Response>;

const readBytes: ReadBytes = (ctx) => readRequest((ctx as FetchContext).original);

export const FETCH_CARRIER: Carrier = { createRouter: createTemplateRouter, readBytes };

export function createHandler({ stages, observer }: Api): FetchHandler {
  const run = compose(stages as Stage[]) as (ctx: Context) => Promise<void>;
  return async (request, info = {}) => {
    const ctx = new FetchContext(request, info);
    await run(ctx);
    let response: Response;
    try {
      response = ctx.response();
    } catch (error) {
      respondWithError(ctx, error, observer);
      response = ctx.response();
    }
    ctx.sent?.();
    return response;
  };
}
