/** Every error this API can answer with: its code, its status, its body. */

import { asAnimalStoreError, type ErrorCode } from '../../domain/errors.ts';

export type HttpErrorCode =
  | ErrorCode
  | 'unauthorized'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'request_timeout'
  | 'unsupported_media_type'
  | 'headers_too_large';

/** RFC 9110, section 15; 431 is RFC 6585, section 5. */
export const STATUS_OF: Readonly<Record<HttpErrorCode, number>> = {
  invalid_request: 400,
  unauthorized: 401,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  headers_too_large: 431,
  internal_error: 500,
  overloaded: 503,
  storage_unavailable: 503,
};

/** Header fields as they go to `writeHead`: name, value, name, value. */
export type Headers = readonly string[];

/** A request that HTTP itself, not the core, has to refuse. */
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

export interface ErrorAnswer {
  readonly code: HttpErrorCode;
  readonly status: number;
  readonly headers: Headers;
  /** The Error of the specification, section 2. */
  readonly body: string;
}

const RETRY_AFTER: Headers = ['Retry-After', '1'];
const CLOSE: Headers = ['Connection', 'close'];

/** What the client is told of a failure. Of one that nobody foresaw it learns the request's id, and nothing else. */
export function errorAnswer(error: unknown, requestId: string): ErrorAnswer {
  const thrown = error instanceof HttpError ? error : asAnimalStoreError(error);
  // Another copy of the core may be of a later release, which has more codes.
  const known = thrown !== undefined && Object.hasOwn(STATUS_OF, thrown.code) ? thrown : undefined;
  const code = known === undefined ? 'internal_error' : known.code;
  const status = STATUS_OF[code];
  const message =
    known === undefined || code === 'internal_error'
      ? `something went wrong here; when you report it, name the request ${requestId}`
      : known.message;
  const headers = known instanceof HttpError ? [...known.headers] : [];
  if (status === 503) headers.push(...RETRY_AFTER);
  if (status === 408 || status === 413 || status === 431) headers.push(...CLOSE);
  return { code, status, headers, body: JSON.stringify({ code, message, status }) };
}
