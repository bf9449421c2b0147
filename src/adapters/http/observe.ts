/** The outermost stage: begins a request, turns errors into responses, and tells the observers. */

import { isIP } from 'node:net';
import { fenced } from '../../application/fenced.ts';
import type { RequestObserver } from '../../application/ports/request-observer.ts';
import { type Context, pathOf, type RequestState, type Stage } from './context.ts';
import { type ErrorContent, errorByStatus, errorContent, type HttpError } from './errors.ts';
import { type IsSecret, newRequestId, requestIdOf, shownPath, traceparentOf } from './request-ids.ts';

/** The header fields of every response. The reference page (`/docs`) has another policy. */
const API_FIELDS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Responds to whatever is thrown with the Error body. Header fields that other stages have set stay. */
export function observe(observer: RequestObserver, isSecret: IsSecret): Stage {
  return async (ctx, next) => {
    const startedAt = performance.now();
    const state = beginRequest(ctx, isSecret);
    // The address can become unknown when the client disconnects.
    const address = clientAddress(ctx.ip);
    const closed = new Promise<void>((resolve) => ctx.res.once('close', resolve));
    try {
      await next();
      completeBody(ctx);
    } catch (error) {
      const { status, fields, body } = errorContent(error, state.requestId);
      ctx.status = status;
      ctx.set(fields);
      ctx.body = body;
      if (status === 413) ctx.res.shouldKeepAlive = false;
      if (status >= 500 && observer.onError !== undefined) {
        observer.onError(error, state.requestId, address, traceparentOf(ctx, isSecret));
      } else if (status === 500) reportFailure(ctx, error);
    }
    if (observer.onRequest === undefined) return;
    const ms = Math.round((performance.now() - startedAt) * 1000) / 1000;
    void closed.then(() => {
      const route = ctx.matched?.[0]?.name;
      observer.onRequest?.({
        method: ctx.method,
        route,
        path: route === undefined ? shownPath(ctx, isSecret) : undefined,
        status: ctx.status,
        ms,
        requestId: state.requestId,
        keyId: state.holder?.id,
        keyName: state.holder?.name,
        address,
        aborted: ctx.res.writableFinished === false ? true : undefined,
        traceparent: traceparentOf(ctx, isSecret),
      });
    });
  };
}

/** Sets `ctx.state.animalStore`, and the header fields of every response. */
function beginRequest(ctx: Context, isSecret: IsSecret): RequestState {
  const state: RequestState = { requestId: requestIdOf(ctx, isSecret), path: pathOf(ctx), holder: undefined };
  ctx.state.animalStore = state;
  // In another Koa app, its router may have set them.
  ctx.matched = undefined;
  ctx.params = {};
  ctx.set({ ...API_FIELDS, 'X-Request-Id': state.requestId });
  return state;
}

/** An error status that a middleware of a user has set without a body gets one, and an object becomes JSON. */
function completeBody(ctx: Context): void {
  const { body, status } = ctx;
  if (body === undefined || body === null) {
    if (status >= 400) throw errorByStatus({ status });
  } else if (Array.isArray(body) || Object.getPrototypeOf(body) === Object.prototype) {
    ctx.body = JSON.stringify(body);
  }
}

/** An address with a zone (`fe80::1%eth0`) has a meaning on one machine only, and the zone can be any text. */
function clientAddress(given = ''): string | undefined {
  if (isIP(given) === 0 || given.includes('%')) return undefined;
  return given.startsWith('::ffff:') && given.includes('.') ? given.slice('::ffff:'.length) : given;
}

/** Where no observer is told of errors, an error that is the fault of the program must not be silent. */
function reportFailure(ctx: Context, error: unknown): void {
  const { animalStore } = ctx.state;
  animalStore.failure =
    error instanceof Error ? error : new Error(`not an error was thrown: ${typeof error}`);
  if (ctx.app === undefined) console.error(`request ${animalStore.requestId}:`, animalStore.failure);
  else fenced(() => ctx.app?.emit('error', animalStore.failure, ctx));
}

/** Returns the response to a message that Node.js could not parse, which never reaches a stage, and notifies the observer. */
export function messageRefusal(
  observer: RequestObserver,
  error: HttpError,
  address: string | undefined,
): ErrorContent {
  const requestId = newRequestId();
  const { status, fields, body } = errorContent(error, requestId);
  observer.onRequest?.({
    method: '',
    route: undefined,
    path: undefined,
    status,
    ms: 0,
    requestId,
    keyId: undefined,
    address: clientAddress(address),
    aborted: undefined,
    traceparent: undefined,
  });
  return { status, fields: { ...API_FIELDS, ...fields, 'X-Request-Id': requestId }, body };
}
