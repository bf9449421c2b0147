/** The errors in the OpenAPI document. */

import { READ_ONLY } from '../src/adapters/http/authentication.ts';
import { BODY_LIMIT, PATCH_TYPE } from '../src/adapters/http/body.ts';
import { type HttpErrorCode, STATUS_OF } from '../src/adapters/http/errors.ts';
import { METHODS, OPERATIONS, type Operation } from '../src/adapters/http/operations.ts';
import { FORBIDDEN_TRANSITION, LACKING } from './examples.ts';

const MAY_HAVE_EFFECT = 'A write may have taken effect: repeat it with the same `Idempotency-Key`.';

/** The condition under which the server responds with each error. */
export const WHEN: Readonly<Record<HttpErrorCode, string>> = {
  invalid_request: 'The query, the body or the message is malformed or breaks a rule.',
  unauthorized: 'The API key is missing or invalid.',
  forbidden: 'The API key is read-only.',
  not_found: 'No pet has this id, or nothing is at this path.',
  method_not_allowed: 'The path does not support the method. `Allow` lists the methods that it supports.',
  request_timeout: 'The client was too slow to send.',
  invalid_transition: 'An attribute of the pet cannot change from its present value to the given one.',
  restart_required: 'The cursor is of another epoch of the store, such as from before a restore.',
  precondition_failed: 'The pet has changed since it was read.',
  precondition_required: '`If-Match` is missing.',
  payload_too_large: `The body has more than ${BODY_LIMIT / 1024} KiB.`,
  unsupported_media_type: 'The body is not JSON in UTF-8, or has a Content-Encoding.',
  idempotency_conflict: 'The `Idempotency-Key` was used for a different request, and is still valid.',
  rate_limited: 'The API key has used up its rate limit. Nothing was stored.',
  headers_too_large: "The request's head has more than 16 KiB.",
  internal_error: `An unexpected error. ${MAY_HAVE_EFFECT}`,
  overloaded: 'The server receives more requests than it can handle. Nothing was stored.',
  storage_unavailable: `The database cannot be reached, or is locked, full, read-only or damaged. ${MAY_HAVE_EFFECT}`,
};

/** An example of the message of each error. */
export const MESSAGES: Readonly<Record<HttpErrorCode, string>> = {
  invalid_request: LACKING,
  unauthorized: 'an API key is required: Authorization: Bearer <API_KEY>',
  forbidden: READ_ONLY,
  not_found: 'there is no pet with id 1',
  method_not_allowed: 'TRACE is not allowed here: expected GET, HEAD or OPTIONS',
  request_timeout: 'the request took too long to arrive',
  invalid_transition: FORBIDDEN_TRANSITION?.message ?? 'the value cannot follow the present one',
  restart_required: 'the cursor is of another epoch of the store: begin without after',
  precondition_failed:
    'the pet has changed since it was read, or the entity tag is not its own: read it again, then decide',
  precondition_required:
    'If-Match is required: the ETag of the pet that the request is for, or * for any version',
  payload_too_large: `the body must have at most ${BODY_LIMIT} bytes`,
  unsupported_media_type:
    'Content-Type must be application/json, without a charset or with charset=utf-8, and Content-Encoding must be absent',
  idempotency_conflict: 'the idempotency key was used for a different pet: use a new key for each pet',
  rate_limited: 'too many requests with this API key: retry after 1 s',
  headers_too_large: 'the head of a request must have at most 16 KiB',
  internal_error: 'unexpected error; when you report it, name the request hT5kQ2aP-1c',
  overloaded: 'the server receives more requests than it can handle',
  storage_unavailable: 'the database file was removed or renamed while it was open',
};

/** The texts for changes and removals, where they differ from {@link WHEN} and {@link MESSAGES}. */
export const OF_CHANGE: Readonly<Partial<Record<HttpErrorCode, { when: string; message: string }>>> = {
  not_found: { when: 'No pet has this id.', message: MESSAGES.not_found },
  unsupported_media_type: {
    when: `The body is not \`${PATCH_TYPE}\` or \`application/json\` in UTF-8, or has a Content-Encoding.`,
    message: MESSAGES.unsupported_media_type.replace('application/json', `${PATCH_TYPE} or application/json`),
  },
  idempotency_conflict: {
    when: WHEN.idempotency_conflict,
    message: 'the idempotency key was used for a different request: use a new key for each request',
  },
};

/** The errors that only certain operations return. All operations can return the others. */
const SPECIFIC: readonly HttpErrorCode[] = specificErrorsOf(OPERATIONS);

/** Returns the errors that only some operations return, and `method_not_allowed`, for a method that the path does not support. */
function specificErrorsOf(operations: readonly Operation[]): readonly HttpErrorCode[] {
  return ['method_not_allowed', ...operations.flatMap(ownErrorsOf)];
}

/** Returns the errors that an operation lists, and those that its method implies. */
function ownErrorsOf({ method, errors }: Operation): readonly HttpErrorCode[] {
  const { isRead, hasBody } = METHODS[method];
  const ofBody = ['payload_too_large', 'unsupported_media_type'] as const;
  return [...errors, ...(isRead ? [] : ['forbidden' as const]), ...(hasBody ? ofBody : [])];
}

const ALL_CODES = Object.keys(STATUS_OF) as HttpErrorCode[];

/** Returns the codes of all errors that a client of these operations can get. */
export function errorCodesOf(operations: readonly Operation[]): readonly HttpErrorCode[] {
  const own = specificErrorsOf(operations);
  return ALL_CODES.filter((code) => own.includes(code) || !SPECIFIC.includes(code));
}

/** Returns the codes of all errors that an operation can return. */
export function errorsOf(operation: Operation): readonly HttpErrorCode[] {
  const own = ownErrorsOf(operation);
  return ALL_CODES.filter((code) => own.includes(code) || !SPECIFIC.includes(code));
}
