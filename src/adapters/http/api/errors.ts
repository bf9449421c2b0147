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
  readonly status: number;
  readonly fields: Readonly<Record<string, string>>;

  constructor(
    code: HttpErrorCode,
    message: string,
    fields: Readonly<Record<string, string>> = {},
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
    fields: Readonly<Record<string, string>> = {},
    cause?: unknown,
  ): HttpError {
    const [code] = Object.entries(STATUS_OF).find((entry) => entry[1] === status) ?? [];
    const known = (code ?? (status < 500 ? 'invalid_request' : 'internal_error')) as HttpErrorCode;
    return new HttpError(known, message, fields, { status, cause });
  }
}

export const SERVER_METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'OPTIONS'];

export function methodNotAllowed(method: string, allowed: readonly string[]): HttpError {
  const message = `${method} is not allowed here: expected ${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`;
  return new HttpError('method_not_allowed', message, { Allow: allowed.join(', ') });
}

export function noSuchPath(expected = 'the API is under /v1'): HttpError {
  return new HttpError('not_found', `no such path; ${expected}`);
}
