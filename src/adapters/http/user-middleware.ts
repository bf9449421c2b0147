/** Middleware of a user, at two places in the list of the API. */

import type { Stage } from './context.ts';
import { HttpError } from './errors.ts';

/** A Koa middleware of a user. Over `createFetchHandler`, the context lacks some members of Koa. */
// A method, so that the compiler accepts a middleware that is declared for the context of Koa.
export type UserMiddleware = { use(...parameters: Parameters<Stage>): unknown }['use'];

/** Places in the list of the API where a user can add middleware. */
export interface UserMiddlewares {
  /** Runs before the API key is checked, unless the server has too many requests in flight. */
  readonly beforeKey?: readonly UserMiddleware[] | undefined;
  /** Runs after the API key was checked and the limits were applied. `ctx.state.animalStore.holder` is the key holder. */
  readonly afterKey?: readonly UserMiddleware[] | undefined;
}

/** The errors of a middleware of a user get a response by their `status`, as in Koa, and those of the API stay as they are. */
export function guest(middleware: UserMiddleware): Stage {
  return async (ctx, next) => {
    const passed = new Set<unknown>();
    const pass = (error: unknown) => {
      passed.add(error);
      throw error;
    };
    try {
      await middleware(ctx, () => next().catch(pass));
    } catch (error) {
      throw passed.has(error) ? error : byStatus(error);
    }
  };
}

function byStatus(error: unknown): unknown {
  const { status, expose, message, headers } = (error ?? {}) as Partial<
    HttpError & { expose: boolean; headers: HttpError['fields'] }
  >;
  if (
    error instanceof HttpError ||
    !(Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599)
  )
    return error;
  const shown = expose === true && typeof message === 'string' ? message : undefined;
  return HttpError.ofStatus(Number(status), shown, headers, error);
}
