/** The errors in the OpenAPI document. */

import type { HttpErrorCode } from '../api/errors.ts';

/** For each error code, the description of the error and an example message. */
export const FAILURES: Readonly<Record<HttpErrorCode, { when: string; message: string }>> = {
  invalid_request: {
    when: 'The query, the body or the message is malformed or breaks a rule.',
    message: 'Host must be given once',
  },
  unauthorized: {
    when: 'The API key is missing or invalid.',
    message: 'an API key is required: Authorization: Bearer <API_KEY>',
  },
  not_found: {
    when: 'No pet has this id, or nothing is at this path.',
    message: 'there is no pet with id 1',
  },
  method_not_allowed: {
    when: 'The path does not support the method. `Allow` lists the methods that it supports.',
    message: 'DELETE is not allowed here: expected GET, HEAD or OPTIONS',
  },
  request_timeout: {
    when: 'The client was too slow to send.',
    message: 'the request took too long to arrive',
  },
  payload_too_large: {
    when: 'The body has more than 64 KiB.',
    message: 'the body must have at most 65536 bytes',
  },
  unsupported_media_type: {
    when: 'The body is not `application/json` in UTF-8, or has a Content-Encoding.',
    message: 'Content-Type must be application/json in UTF-8, and Content-Encoding must be absent',
  },
  idempotency_conflict: {
    when: 'The `Idempotency-Key` was used for a different pet within the last 24 hours.',
    message: 'the Idempotency-Key was used for a different pet: use a new key for each pet',
  },
  rate_limited: {
    when: 'The API key has used up its rate limit, or 1,000,000 idempotency keys within 24 hours. Nothing was stored.',
    message: 'too many requests with this API key: retry after 1 s',
  },
  headers_too_large: {
    when: "The request's head has more than 16 KiB.",
    message: 'the head of a request must have at most 16 KiB',
  },
  internal_error: {
    when: 'An unexpected error.',
    message: 'unexpected error; when you report it, name the request hT5kQ2aP-1c',
  },
  overloaded: {
    when: 'The server receives more requests than it can handle, or is stopping. Nothing was stored.',
    message: 'the server receives more requests than it can handle',
  },
  storage_unavailable: {
    when: 'The database is locked, full, read-only or damaged.',
    message: 'the database file was removed or renamed while it was open',
  },
};

/** The error codes that every operation can return. */
export const COMMON_ERRORS: readonly HttpErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'request_timeout',
  'rate_limited',
  'headers_too_large',
  'internal_error',
  'overloaded',
  'storage_unavailable',
];
