/** Sends responses through the response object of Node.js, and notifies the observer. */

import type { Context } from 'koa';
import type { ApiKeyHolder } from '../../../application/ports/api-key-verifier.ts';
import type { Observer } from '../../../application/ports/observer.ts';
import { errorResponse } from '../api/errors.ts';
import type { ApiResponse } from '../api/http.ts';

/** The value of `ctx.state` during a request. */
export interface RequestState {
  readonly requestId: string;
  readonly startedAt: number;
  readonly observer: Observer;
  route?: string;
  holder?: ApiKeyHolder;
}

/**
 * Sends the response without `ctx.status` and `ctx.body` of Koa, and notifies the observer. This function or Node.js
 * adds `Date`, `Connection`, `Content-Length` and `X-Request-Id`. If the body contains only ASCII, it is written as
 * latin1, because Node.js then sends the head and the body in a single write.
 */
export function respond(ctx: Context, { status, headers, body }: ApiResponse): void {
  const { res } = ctx;
  const state = ctx.state as RequestState;
  ctx.respond = false;
  const aborted = res.destroyed || undefined;
  if (!res.headersSent) {
    const length = Buffer.byteLength(body);
    const { requestId } = state;
    res.writeHead(
      status,
      status === 204 || status === 304
        ? [...headers, 'X-Request-Id', requestId]
        : [...headers, 'X-Request-Id', requestId, 'Content-Length', String(length)],
    );
    res.end(body, length === body.length ? 'latin1' : 'utf8');
  }
  state.observer.onRequest?.({
    method: ctx.method,
    route: state.route,
    status,
    ms: Math.round((performance.now() - state.startedAt) * 1000) / 1000,
    requestId: state.requestId,
    keyId: state.holder?.id,
    aborted,
  });
}

/** Sends the error response to a request whose handling failed. The thrown value can have any type. */
export function respondWithError(ctx: Context, error: unknown): void {
  const { requestId, observer } = ctx.state as RequestState;
  const response = errorResponse(error, requestId, ctx.req);
  if (response.status >= 500) observer.onError?.(error, requestId);
  if (response.headers.includes('Connection')) ctx.res.shouldKeepAlive = false;
  respond(ctx, response);
}
