/** Sends responses through the response object of Node.js, and notifies the observer. */

import type { Context } from 'koa';
import type { ApiKeyHolder } from '../../../application/ports/api-key-verifier.ts';
import type { Observer } from '../../../application/ports/observer.ts';
import type { TrustedProxies } from '../api/client-address.ts';
import { errorResponse } from '../api/errors.ts';
import type { ApiResponse, Headers } from '../api/http.ts';
import type { IncomingBodies } from '../api/incoming-bodies.ts';
import { traceparentOf } from '../api/traceparent.ts';
import { unmatchedPath } from '../api/unmatched-path.ts';

/** What all requests of an app have in common. */
export interface AppState {
  readonly observer: Observer;
  readonly proxies: TrustedProxies | undefined;
  readonly bodies: IncomingBodies;
  /** Whether a text contains a secret part of an API key. */
  readonly isSecret: (text: string) => boolean;
  /** The additional header fields of responses from a deprecated path. */
  readonly deprecation: Headers;
}

/** The value of `ctx.state` during a request. */
export interface RequestState {
  readonly app: AppState;
  readonly requestId: string;
  readonly startedAt: number;
  /** The address of the client; `undefined` when it is unknown or nobody observes requests. */
  readonly address: string | undefined;
  /** Whether the server was too busy when the request arrived. */
  isTooBusy: boolean;
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
  state.app.observer.onRequest?.({
    method: ctx.method,
    route: state.route,
    path: state.route === undefined ? unmatchedPath(ctx.req) : undefined,
    status,
    ms: Math.round((performance.now() - state.startedAt) * 1000) / 1000,
    requestId: state.requestId,
    keyId: state.holder?.id,
    address: state.address,
    aborted,
    traceparent: traceparentOf(ctx.req, state.app.isSecret),
  });
}

/** Sends the error response to a request whose handling failed. The thrown value can have any type. */
export function respondWithError(ctx: Context, error: unknown): void {
  const { requestId, address, app } = ctx.state as RequestState;
  const response = errorResponse(error, requestId, ctx.req, app.deprecation);
  if (response.status >= 500) {
    app.observer.onError?.(error, requestId, address, traceparentOf(ctx.req, app.isSecret));
  }
  if (response.headers.includes('Connection')) ctx.res.shouldKeepAlive = false;
  respond(ctx, response);
}
