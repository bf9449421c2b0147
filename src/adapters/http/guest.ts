import type { RouterMiddleware } from '@koa/router';
import { errorByStatus } from './errors.ts';
import type { ApiState } from './state.ts';

/** The errors of a middleware of a user get a response by their `status`, as in Koa, and those of the API stay as they are. */
export function guest(middleware: RouterMiddleware<ApiState>): RouterMiddleware<ApiState> {
  return async (ctx, next) => {
    let ofApi: unknown;
    const callApi = () =>
      next().catch((error: unknown) => {
        ofApi = error;
        throw error;
      });
    try {
      await middleware(ctx, callApi);
    } catch (error) {
      throw error === ofApi ? error : errorByStatus(error);
    }
  };
}
