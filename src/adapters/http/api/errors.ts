import { type AnimalStoreError, asAnimalStoreError } from '../../../domain/errors.ts';
import { JSON_HEADERS, NO_STORE } from './headers.ts';
import type { ApiResponse, Headers, RequestHead } from './http.ts';
import { isFramed } from './malformed.ts';

/** The HTTP status of each error code (RFC 9110, section 15, and RFC 6585, sections 4 and 5). */
export const STATUS_OF = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_conflict: 422,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  overloaded: 503,
  storage_unavailable: 503,
} as const;

export type HttpErrorCode = keyof typeof STATUS_OF;

/** An error that the HTTP adapter detects, such as a missing API key. The store throws `AnimalStoreError`. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: HttpErrorCode;
  readonly headers: Headers;

  constructor(code: HttpErrorCode, message: string, headers: Headers = []) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

export const SERVER_METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'OPTIONS'];

export function methodNotAllowed(method: string, allowed: readonly string[]): HttpError {
  const message = `${method} is not allowed here: expected ${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`;
  return new HttpError('method_not_allowed', message, ['Allow', allowed.join(', ')]);
}

export function noSuchPath(headers: Headers = [], expected = 'the API is under /v1'): HttpError {
  return new HttpError('not_found', `no such path; ${expected}`, headers);
}

/** In seconds (RFC 9111, section 1.2.2). */
const RETRY_AFTER_MAX = 2 ** 31 - 1;

const RETRY_AFTER: Headers = ['Retry-After', '1'];

/** @param head `undefined` when the request could not be parsed */
export function errorResponse(error: unknown, requestId: string, head?: RequestHead): ApiResponse {
  const known = knownError(error);
  const code = known === undefined ? 'internal_error' : known.code;
  const status = STATUS_OF[code];
  const message =
    known === undefined || code === 'internal_error'
      ? `unexpected error; when you report it, name the request ${requestId}`
      : known.message;
  return {
    status,
    headers: [...JSON_HEADERS, ...NO_STORE, ...headersOf(known, status)],
    body: JSON.stringify({ code, message, status }),
    closes: status === 408 || status === 413 || status === 431 || !isComplete(head),
  };
}

/** A program can load two versions of this package, so an `AnimalStoreError` can have a code that is not known here. */
function knownError(error: unknown): HttpError | AnimalStoreError | undefined {
  const known = error instanceof HttpError ? error : asAnimalStoreError(error);
  return known !== undefined && Object.hasOwn(STATUS_OF, known.code) ? known : undefined;
}

function headersOf(error: HttpError | AnimalStoreError | undefined, status: number): Headers {
  if (status === 503) return RETRY_AFTER;
  if (error?.code === 'rate_limited' && 'retryAfter' in error) {
    return ['Retry-After', String(secondsOf(error.retryAfter))];
  }
  return error instanceof HttpError ? error.headers : [];
}

/** An adapter of the host can set any value. */
function secondsOf(retryAfter: unknown): number {
  return typeof retryAfter === 'number' && retryAfter > 0
    ? Math.ceil(Math.min(retryAfter, RETRY_AFTER_MAX))
    : 1;
}

/** Whether the end of a request is known, and its client does not wait for a response before it sends the body. */
function isComplete(head: RequestHead | undefined): boolean {
  return head === undefined || (isFramed(head) && head.headers.expect === undefined);
}
