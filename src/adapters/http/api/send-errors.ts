import { type AnimalStoreError, asAnimalStoreError } from '../../../domain/errors.ts';
import { isFramed } from './check-head.ts';
import { clientAddress } from './client-address.ts';
import type { Context, Stage } from './context.ts';
import { HttpError, STATUS_OF } from './errors.ts';
import { API_FIELDS, newRequestId, type RequestObserver, type RequestSettings } from './observe.ts';

/** In seconds (RFC 9111, section 1.2.2). */
const RETRY_AFTER_MAX = 2 ** 31 - 1;

export interface ErrorContent {
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Responds to whatever is thrown with the Error body. Fields that earlier stages have set stay. An error status that a
 * middleware has set without a body gets one too.
 */
export function sendErrors(observer: RequestObserver): Stage {
  return async (ctx, next) => {
    try {
      await next();
      if (ctx.status >= 400 && (ctx.body === undefined || ctx.body === null)) {
        throw HttpError.ofStatus(ctx.status);
      }
    } catch (error) {
      respondWithError(ctx, error, observer);
    }
  };
}

export function respondWithError(ctx: Context, error: unknown, observer: RequestObserver): void {
  const { requestId, address, traceparent } = ctx.state.animalStore;
  const { status, fields, body } = errorContent(error, requestId);
  if (status >= 500) observer.onError?.(error, requestId, address, traceparent);
  // The rest of the request is not read.
  if (status === 408 || status === 413 || status === 431 || !isComplete(ctx)) ctx.res.shouldKeepAlive = false;
  ctx.status = status;
  ctx.set(fields);
  ctx.body = body;
}

/**
 * Returns the response to a message that the server could not parse as a request, and notifies the observers. Such a
 * message never reaches the stages of the API.
 */
export function refuseMessage(
  { observer, settings }: { readonly observer: RequestObserver; readonly settings: RequestSettings },
  error: HttpError,
  peer: string | undefined,
  forwardedFor: string | string[] | undefined,
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
    address: clientAddress(peer, forwardedFor, settings.proxies),
    aborted: undefined,
    traceparent: undefined,
  });
  const length = String(Buffer.byteLength(body));
  return {
    status,
    fields: { ...API_FIELDS, ...fields, 'X-Request-Id': requestId, 'Content-Length': length },
    body,
  };
}

function errorContent(error: unknown, requestId: string): ErrorContent {
  const known = knownError(error);
  const code = known?.code ?? 'internal_error';
  const status = known instanceof HttpError ? known.status : STATUS_OF[code];
  const message =
    known === undefined || code === 'internal_error'
      ? `unexpected error; when you report it, name the request ${requestId}`
      : known.message;
  return {
    status,
    fields: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      ...(status === 503 && { 'Retry-After': '1' }),
      ...fieldsOf(known),
    },
    body: JSON.stringify({ code, message, status }),
  };
}

/** A program can load two versions of this package, so an `AnimalStoreError` can have a code that is not known here. */
function knownError(error: unknown): HttpError | AnimalStoreError | undefined {
  const known = error instanceof HttpError ? error : asAnimalStoreError(error);
  const isKnown =
    known !== undefined && Object.hasOwn(STATUS_OF, known.code) && typeof known.message === 'string';
  return isKnown ? known : undefined;
}

function fieldsOf(error: HttpError | AnimalStoreError | undefined): Readonly<Record<string, string>> {
  if (error instanceof HttpError) return error.fields;
  return error?.code === 'rate_limited' ? { 'Retry-After': String(secondsOf(error.retryAfter)) } : {};
}

/** An adapter of the host can set any value. */
function secondsOf(retryAfter: unknown): number {
  return typeof retryAfter === 'number' && retryAfter > 0
    ? Math.ceil(Math.min(retryAfter, RETRY_AFTER_MAX))
    : 1;
}

/** Whether the end of a request is known, and its client does not wait for a response before it sends the body. */
function isComplete({ req }: Context): boolean {
  return isFramed(req) && req.headers['expect'] === undefined;
}
