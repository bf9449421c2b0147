/** The errors of the API, and the responses to them. */

import { asAnimalStoreError } from '../../domain/errors.ts';

/** The HTTP status of each error code (RFC 9110, section 15, and RFC 6585, sections 4 and 5). */
export const STATUS_OF = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  invalid_transition: 409,
  restart_required: 410,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_conflict: 422,
  precondition_required: 428,
  rate_limited: 429,
  headers_too_large: 431,
  internal_error: 500,
  overloaded: 503,
  storage_unavailable: 503,
} as const;

export type HttpErrorCode = keyof typeof STATUS_OF;

/** Only the operations that change pets or list changes return these codes. An error of a user's middleware never gets them. */
const OF_CHANGES = ['invalid_transition', 'restart_required', 'precondition_failed', 'precondition_required'];
const CODES = Object.keys(STATUS_OF) as HttpErrorCode[];
const GENERAL_CODES = CODES.filter((code) => !OF_CHANGES.includes(code));

type Fields = Readonly<Record<string, string>>;

export interface ErrorContent {
  readonly status: number;
  readonly fields: Fields;
  readonly body: string;
}

/** An error that the HTTP adapter detects, such as a missing API key. The store throws `AnimalStoreError`. */
export class HttpError extends Error {
  readonly code: HttpErrorCode;
  readonly status: number;
  readonly fields: Fields;

  constructor(code: HttpErrorCode, message: string, fields: Fields = {}) {
    super(message);
    this.code = code;
    this.status = STATUS_OF[code];
    this.fields = fields;
  }
}

export const TOO_SLOW: HttpError = new HttpError('request_timeout', 'the request took too long to arrive');

/** Turns an error with a status, such as an error of Koa's `ctx.throw`, into an `HttpError`. Returns any other error as it is. */
export function errorByStatus(error: unknown): unknown {
  const members = (error ?? {}) as { status?: number; expose?: boolean; message?: unknown; headers?: Fields };
  const { status = 0, expose, message, headers } = members;
  if (!Number.isInteger(status) || status < 400 || status > 599) return error;
  const other = status < 500 ? 'invalid_request' : 'internal_error';
  const code = GENERAL_CODES.find((each) => STATUS_OF[each] === status) ?? other;
  const text = expose === true ? String(message) : 'the request was refused';
  return Object.assign(new HttpError(code, text, headers), { status, cause: error });
}

/** Returns the response to an error. The message for an unexpected error has the request id, but no details. */
export function errorContent(error: unknown, requestId: string): ErrorContent {
  const found = error instanceof HttpError ? error : asAnimalStoreError(error);
  // A program can load two versions of this package, so an `AnimalStoreError` can have a code that this version does not know.
  const isKnown = Object.hasOwn(STATUS_OF, found?.code ?? '') && typeof found?.message === 'string';
  const known = isKnown ? found : undefined;
  const code = (known?.code ?? 'internal_error') as HttpErrorCode;
  const status = known instanceof HttpError ? known.status : STATUS_OF[code];
  const message =
    known === undefined || code === 'internal_error'
      ? `unexpected error; when you report it, name the request ${requestId}`
      : known.message;
  const seconds = String(Math.ceil(asAnimalStoreError(error)?.retryAfter ?? 1));
  const fields = {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    ...((status === 429 || status === 503) && { 'Retry-After': seconds }),
    ...(known instanceof HttpError && known.fields),
  };
  return { status, fields, body: JSON.stringify({ code, message, status }) };
}

export function methodNotAllowed(method: string, allowed: readonly string[]): HttpError {
  const message = `${method} is not allowed here: expected ${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`;
  return new HttpError('method_not_allowed', message, { Allow: allowed.join(', ') });
}
