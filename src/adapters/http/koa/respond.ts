/** Writes the responses, and notifies the observer. */

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
 * Sends the response without the setters of Koa, and notifies the observer. `Date`, `Connection`, `Content-Length` and
 * `X-Request-Id` are added by this function or by Node.js. An ASCII body is encoded as latin1, because Node.js then
 * writes the head and the body together.
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

/** Responds to a thrown value of any type with the `Error` object of the specification, section 2. */
export function respondWithError(ctx: Context, error: unknown): void {
  const { requestId, observer } = ctx.state as RequestState;
  const response = errorResponse(error, requestId, ctx.req);
  if (response.status >= 500) observer.onError?.(error, requestId);
  if (response.headers.includes('Connection')) ctx.res.shouldKeepAlive = false;
  respond(ctx, response);
}
