/** Assigns request ids, turns errors into the Error body, and notifies observers, which never get a part of an API key. */

import { isIP } from 'node:net';
import { isPlainObject } from '../../application/arguments.ts';
import { fenced } from '../../application/observers.ts';
import type { RequestObserver } from '../../application/ports/request-observer.ts';
import { API_KEY_PREFIX, secretPartFinder } from '../../domain/api-key.ts';
import { isError } from '../../domain/errors.ts';
import { type ErrorContent, errorByStatus, errorContent, HttpError } from './errors.ts';
import { DEPRECATION_NAMES, deprecationOfError } from './lifecycle.ts';
import { pathOf } from './paths.ts';
import type { ApiContext, ApiMiddleware } from './state.ts';

/** Returns whether a text contains a part of an API key. */
type IsSecret = (text: string) => boolean;

/** Comparing a text with `Authorization` can be slow: if the product of their lengths is above this, the text counts as secret. */
const SEARCH_LIMIT = 1_000_000;

/** The header fields of every response. The reference page (`/docs`) has another `Content-Security-Policy`. */
const API_FIELDS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** The header fields that describe a success. They are removed from an error response. */
const OF_SUCCESS = [
  ...['Accept-Ranges', 'Content-Disposition', 'Content-Encoding', 'Content-Language', 'Content-Location'],
  ...['Content-Range', 'ETag', 'Idempotency-Replayed', 'Last-Modified', 'Link', 'Location'],
  ...['Trailer', 'Transfer-Encoding'],
  ...DEPRECATION_NAMES,
];

/**
 * Responds to a thrown value with the Error body, unless the response has begun. Keeps the header fields that middleware has set,
 * except those in `OF_SUCCESS`.
 */
export function observe(observer: RequestObserver, isPartOfKey: IsSecret): ApiMiddleware {
  return async (ctx, next) => {
    const startedAt = performance.now();
    const isSecret: IsSecret = (text) => {
      const authorization = ctx.get('authorization');
      const isTooLong = text.length * authorization.length > SEARCH_LIMIT;
      return isPartOfKey(text) || isTooLong || secretPartFinder([authorization])(text);
    };
    const requestId = requestIdOf(ctx, isSecret);
    ctx.state.animalStore = { requestId, path: pathOf(ctx), holder: undefined };
    const { animalStore: state } = ctx.state;
    // If the API is a part of a larger Koa app, that app may have set these.
    ctx.matched = [];
    ctx.params = {};
    ctx.remove('ETag');
    ctx.set({ ...API_FIELDS, 'X-Request-Id': requestId });
    // Read now, because the address can become unknown when the client disconnects.
    const address = clientAddress(ctx.ip);
    const closed = new Promise<void>((resolve) => ctx.res.once('close', resolve));
    try {
      await next();
      completeBody(ctx);
    } catch (thrown) {
      const [error, status] = respondError(ctx, thrown);
      if (status >= 500 && observer.onError !== undefined) {
        observer.onError(error, requestId, address, traceparentOf(ctx, isSecret));
      } else if (status === 500) reportFailure(ctx, error);
    }
    if (observer.onRequest === undefined) return;
    const ms = Math.round((performance.now() - startedAt) * 1000) / 1000;
    void closed.then(() => {
      const route = ctx.matched?.[0]?.name;
      observer.onRequest?.({
        method: ctx.method,
        route,
        path: route === undefined ? shownPath(state.path, isSecret) : undefined,
        status: ctx.status,
        ms,
        requestId,
        keyId: state.holder?.id,
        keyName: state.holder?.name,
        address,
        aborted: ctx.res.writableFinished === false ? true : undefined,
        traceparent: traceparentOf(ctx, isSecret),
      });
    });
  };
}

/**
 * Responds with an error. If one of its header fields is invalid, responds with the error about this field instead. Returns
 * whichever of the two errors it used, and its status.
 */
function respondError(ctx: ApiContext, error: unknown): [error: unknown, status: number] {
  const { requestId } = ctx.state.animalStore;
  const { status, fields, body } = errorContent(error, requestId);
  if (ctx.headerSent) {
    // Ends the connection, so that the client does not mistake a part of the body for all of it. If `ctx.respond` is false, other
    // code sends the rest.
    if (ctx.respond !== false) ctx.res.destroy();
    ctx.respond = false;
    return [error, status];
  }
  for (const name of OF_SUCCESS) ctx.remove(name);
  try {
    ctx.set({ ...deprecationOfError(ctx.state.animalStore, status), ...fields });
  } catch (invalid) {
    return respondError(ctx, invalid);
  }
  ctx.status = status;
  ctx.body = body;
  ctx.respond = true;
  if (status === 408 || status === 413) ctx.res.shouldKeepAlive = false;
  return [error, status];
}

/** Completes the response of a user's middleware: an error status without a body gets one, and an object becomes JSON. */
function completeBody(ctx: ApiContext): void {
  if (ctx.respond === false || ctx.headerSent) return;
  const { body, status } = ctx;
  if (status < 200 || status > 599) throw new RangeError(`expected a status from 200 to 599, got ${status}`);
  if (body === undefined || body === null) {
    if (status >= 400) throw errorByStatus({ status });
  } else if (Array.isArray(body) || (Object(body) === body && isPlainObject(body as object))) {
    ctx.body = JSON.stringify(body);
  }
}

/** Wraps a user's middleware: the `status` of its errors decides the response, as in Koa. Errors of the API pass unchanged. */
export function guest(middleware: ApiMiddleware): ApiMiddleware {
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
      throw error === ofApi || error instanceof HttpError ? error : errorByStatus(error);
    }
  };
}

/** Emits the `error` event of the Koa app. Otherwise, without an observer, a fault of the program would be silent. */
function reportFailure(ctx: ApiContext, error: unknown): void {
  const failure = isError(error) ? error : new Error(`not an error was thrown: ${typeof error}`);
  ctx.state.animalStore.failure = failure;
  fenced(() => ctx.app.emit('error', failure, ctx));
}

/** Returns the response to an HTTP message that does not reach the middleware, and notifies the observer. */
export function messageRefusal(observer: RequestObserver, error: HttpError, address?: string): ErrorContent {
  const requestId = crypto.randomUUID();
  const { status, fields, body } = errorContent(error, requestId);
  observer.onRequest?.({ method: '', status, ms: 0, requestId, address: clientAddress(address) });
  return { status, fields: { ...API_FIELDS, ...fields, 'X-Request-Id': requestId }, body };
}

/** Leaves out an address with a zone (`fe80::1%eth0`): it is valid on one machine only, and the zone can be any text. */
function clientAddress(given = ''): string | undefined {
  if (isIP(given) === 0 || given.includes('%')) return undefined;
  return given.startsWith('::ffff:') && given.includes('.') ? given.slice('::ffff:'.length) : given;
}

/**
 * Matches request ids that are too short to be secret. They are not compared with API keys. Otherwise, the response
 * would tell which short texts are parts of a key, and a client could guess the key character by character.
 */
const SHORT_ID = /^[\w-]{1,15}$/;

/** Matches UUIDs and 32 hexadecimal digits. A generated API key has neither form. */
const LONG_ID = /^(?:[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|[\da-f]{32})$/i;

/** Returns the `X-Request-Id` of the client. If it is missing or malformed, or has a part of an API key, returns a new id. */
function requestIdOf(ctx: ApiContext, isSecret: IsSecret): string {
  const given = ctx.get('x-request-id');
  return SHORT_ID.test(given) || (LONG_ID.test(given) && !isSecret(given)) ? given : crypto.randomUUID();
}

/** A valid `traceparent` of version 00 (W3C Trace Context). A trace id or a parent id of zeros is invalid. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

function traceparentOf(ctx: ApiContext, isSecret: IsSecret): string | undefined {
  const given = ctx.get('traceparent');
  return TRACEPARENT.test(given) && !isSecret(given) ? given : undefined;
}

/** Returns the first 200 characters of a path, escaped. If they contain a part of a key, returns only the length of the path. */
function shownPath(path: string, isSecret: IsSecret): string {
  const shown = path.slice(0, 200);
  if (hasKey(shown, isSecret)) return `… (${path.length} characters)`;
  return shown.replaceAll(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character.toWellFormed()));
}

/** Whether a text, as it is or percent-decoded, contains a part of a key. A text encoded more than three times counts as secret. */
function hasKey(text: string, isSecret: IsSecret, rounds = 3): boolean {
  if (text.toLowerCase().includes(API_KEY_PREFIX) || isSecret(text)) return true;
  const decoded = text.replaceAll(/%([\da-f]{2})/gi, (_, code) => String.fromCharCode(parseInt(code, 16)));
  return decoded !== text && (rounds === 0 || hasKey(decoded, isSecret, rounds - 1));
}
