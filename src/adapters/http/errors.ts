/** The errors of the API, and what a client learns of them. */

import { type AnimalStoreError, asAnimalStoreError } from '../../domain/errors.ts';

/** The HTTP status of each error code (RFC 9110, section 15, and RFC 6585, sections 4 and 5). */
export const STATUS_OF = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
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

type Fields = Readonly<Record<string, string>>;

/** An error that the HTTP adapter detects, such as a missing API key. The store throws `AnimalStoreError`. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: HttpErrorCode;
  readonly status: number;
  readonly fields: Fields;

  constructor(
    code: HttpErrorCode,
    message: string,
    fields: Fields = {},
    { status = STATUS_OF[code], cause }: { readonly status?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.status = status;
    this.fields = fields;
  }

  /** Creates the error for a status that a middleware of a user has chosen, which need not be in the table. */
  static ofStatus(
    status: number,
    message = 'the request was refused',
    fields: Fields = {},
    cause?: unknown,
  ): HttpError {
    const [code] = Object.entries(STATUS_OF).find((entry) => entry[1] === status) ?? [];
    const known = (code ?? (status < 500 ? 'invalid_request' : 'internal_error')) as HttpErrorCode;
    return new HttpError(known, message, fields, { status, cause });
  }
}

export interface ErrorContent {
  readonly status: number;
  readonly fields: Fields;
  readonly body: string;
}

/** Returns the response to an error. Of an unexpected one, which can have any members, it tells the request id alone. */
export function errorContent(error: unknown, requestId: string): ErrorContent {
  const known = knownError(error);
  const code = (known?.code ?? 'internal_error') as HttpErrorCode;
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
  const isKnown = Object.hasOwn(STATUS_OF, known?.code ?? '') && typeof known?.message === 'string';
  return isKnown ? known : undefined;
}

/** In seconds (RFC 9111, section 1.2.2). */
const RETRY_AFTER_MAX = 2 ** 31 - 1;

function fieldsOf(error: HttpError | AnimalStoreError | undefined): Fields {
  if (error instanceof HttpError) return error.fields;
  if (error?.code !== 'rate_limited') return {};
  // An adapter of the host can set any value.
  const given: unknown = error.retryAfter;
  const seconds = typeof given === 'number' && given > 0 ? Math.ceil(Math.min(given, RETRY_AFTER_MAX)) : 1;
  return { 'Retry-After': String(seconds) };
}

export function methodNotAllowed(method: string, allowed: readonly string[]): HttpError {
  const message = `${method} is not allowed here: expected ${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`;
  return new HttpError('method_not_allowed', message, { Allow: allowed.join(', ') });
}
