/** Creates the errors of failed requests. Decides whether a write may have been made, and whether a retry can succeed. */

import { unknownOutcome, type Write } from '../../application/until-aborted.ts';
import {
  AnimalStoreError,
  asAnimalStoreError,
  ERROR_CODES,
  type ErrorCode,
  isError,
} from '../../domain/errors.ts';
import { NOT_SERVED } from './unserved.ts';

/** A response with its body as text. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Whether the body has more than {@link RESPONSE_LIMIT} bytes. In this case, `text` is empty. */
  readonly isTooLarge?: boolean;
}

/** The properties of an operation that decide what a status means. */
export interface OperationStatuses {
  /** Whether the path names a pet. If so, 404 can mean a missing pet as well as a wrong base address. */
  readonly isOfPet?: boolean;
  /** The status with which a server responds if it does not serve the operation. */
  readonly unserved?: number;
}

/** The maximum size of a body in bytes, after decompression. 100 pets with 20 texts of 2000 characters take at most 24 MB. */
export const RESPONSE_LIMIT: number = 2 ** 25;

/** The error codes, by status, for responses without a known error code, such as those of a proxy. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = { 401: 'unauthorized', 429: 'rate_limited' };

/**
 * The codes that an error keeps if the outcome of the write is unknown. The other codes would say that the call had no effect, so
 * an error with another code gets `storage_unavailable` instead.
 */
const UNKNOWN_CODES: readonly ErrorCode[] = [
  'storage_unavailable',
  'internal_error',
  'unauthorized',
  'forbidden',
];

/** The statuses after which a retry can succeed. A proxy sends 502 or 504 when it gets no response from the server. */
const RETRIED: readonly number[] = [408, 429, 502, 503, 504];

const EXAMPLE = 'expected a base address such as https://pets.example.org/v1';

/** The failure of a request. */
export interface Failure {
  readonly error: AnimalStoreError;
  /** Whether the server may have stored what the request writes. */
  readonly isStoredPossibly: boolean;
  /** Whether a retry would fail in the same way. */
  readonly isFinal: boolean;
}

/**
 * Returns the failure that a response describes. Only an error in the format of the API can prove that nothing was stored, because
 * a proxy can replace the response of the server with its own, which can have any status.
 */
export function failureOf(response: ApiResponse, base: string, operation: OperationStatuses): Failure {
  const { status } = response;
  const told = apiErrorOf(response);
  const saysNothingStored = told?.code === 'overloaded' || (status >= 400 && status < 500 && status !== 408);
  return {
    error: errorOf(response, told, base, operation),
    isStoredPossibly: told === undefined || !saysNothingStored,
    isFinal: !RETRIED.includes(status) && !isCut(response.text),
  };
}

function errorOf(
  { status, headers, isTooLarge }: ApiResponse,
  told: ReturnType<typeof apiErrorOf>,
  base: string,
  { isOfPet, unserved }: OperationStatuses,
): AnimalStoreError {
  if (isTooLarge) return unreadable(base, new Error(`the response has more than ${RESPONSE_LIMIT} bytes`));
  if (status >= 200 && status < 300) return unreadable(base, new Error(`unexpected status ${status}`));
  // In a browser, a redirect has the status 0, and its target is hidden.
  const redirect = status < 400 && `redirect to ${headers.get('Location') ?? 'another address'}`;
  const retryAfter = secondsOf(headers.get('Retry-After') ?? '');
  const cause = placed(base, redirect || `status ${status}`);
  const error = (code: ErrorCode, message: string) =>
    new AnimalStoreError(code, message, { cause, retryAfter });
  if (redirect) return error('storage_unavailable', `the server redirects: ${EXAMPLE}`);
  if (status === unserved && told) return error('invalid_request', `${NOT_SERVED} (${told.message})`);
  const isMissingPet = isOfPet && told?.code === 'not_found';
  if ((status === 404 && !isMissingPet) || (status === 410 && told?.code !== 'restart_required'))
    return error('storage_unavailable', `the address is not that of an API: ${EXAMPLE}`);
  if (told?.code === 'unauthorized')
    return error('unauthorized', `the server refuses the API key: ${told.message}`);
  const known = ERROR_CODES.find((each) => each === told?.code) ?? CODE_OF_STATUS[status];
  const fault = told?.message ?? `a proxy or another server responds with status ${status}`;
  return error(known ?? 'storage_unavailable', fault);
}

/** Matches the code, or the failed system call, of an error of Node.js or Bun for a connection that was not opened. */
const NOT_OPENED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused|connect|getaddrinfo)$/;
/** The message of the error of Node.js for a port that the Fetch standard blocks. This error has no code. */
const BLOCKED = 'bad port';
/** The error codes of Node.js and Bun for a server whose certificate is not valid, or which does not use TLS. */
const NOT_TRUSTED = /^(?:ERR_TLS_CERT\w*|ERR_SSL_WRONG_VERSION_NUMBER|UNABLE_TO_\w+|(?!ERR_)\w*CERT\w*)$/;

export function unreachable(base: string, cause: unknown): Failure {
  const { message = 'fetch rejected without an error', code = '', syscall = '' } = innermost(cause);
  const isFinal = NOT_TRUSTED.test(code) || message === BLOCKED;
  // If the error has a code, its message can contain the address, so only the code is shown.
  const detail = code ? ` (${code})` : `: ${message}`;
  const isPlain = code === 'ERR_SSL_WRONG_VERSION_NUMBER';
  const fault = `the server cannot be reached${isPlain ? ': the server does not use TLS: expected http:' : detail}`;
  return {
    error: new AnimalStoreError('storage_unavailable', fault, { cause: placed(base, message, cause) }),
    isStoredPossibly: !isFinal && !NOT_OPENED.test(code) && !NOT_OPENED.test(syscall),
    isFinal,
  };
}

/**
 * Creates the `cause` for an error. Only the `cause` names the address of the server, because the message of the error itself can be
 * sent to the clients of a server that uses this store.
 */
function placed(base: string, fault: string, cause?: unknown): Error {
  return new Error(`${base}: ${fault}`, cause === undefined ? {} : { cause });
}

/** Returns the failure for a successful response that cannot be read. */
export function unreadableSuccess({ text }: ApiResponse, base: string, cause: unknown): Failure {
  return { error: unreadable(base, cause), isStoredPossibly: true, isFinal: text !== '' && !isCut(text) };
}

/** Whether a text may be incomplete JSON. Some runtimes report no error when a connection or compressed data ends early. */
function isCut(text: string): boolean {
  return /^[[{]/.test(text) && jsonOf(text) === undefined;
}

function unreadable(base: string, cause: unknown): AnimalStoreError {
  const known = asAnimalStoreError(cause);
  if (known?.code === 'internal_error') return known; // This JavaScript engine cannot read long numbers exactly.
  const { message } = cause as Error;
  const fault = `the server does not respond as the API does: ${message}`;
  return new AnimalStoreError('storage_unavailable', fault, { cause: placed(base, message, cause) });
}

/** Returns the error of a write that may have been made although its request failed. */
export function unknownOutcomeOf(
  write: Write,
  error: AnimalStoreError,
  idempotencyKey: string | undefined,
): AnimalStoreError {
  const details = { cause: error, retryAfter: error.retryAfter, idempotencyKey };
  const code = UNKNOWN_CODES.find((each) => each === error.code);
  return unknownOutcome(write, error.message, details, code);
}

/** Returns the innermost cause, because every fault of `fetch` has the same message. A user's `fetch` can reject with any value. */
function innermost(error: unknown, depth = 0): Partial<Error & { code: string; syscall: string }> {
  // If a host name has several addresses, `errors` contains an error for each of them.
  const { cause, errors } = Object(error) as Partial<AggregateError>;
  const inner = cause ?? errors?.[0];
  return isError(inner) && depth < 10 ? innermost(inner, depth + 1) : Object(error);
}

/** Returns the error in a response of the API, or `undefined` if another program has responded. */
function apiErrorOf({ status, text }: ApiResponse): { code: string; message: string } | undefined {
  const { code, message, status: told } = jsonOf(text) ?? {};
  const isOfApi = told === status && typeof code === 'string' && typeof message === 'string';
  return isOfApi ? { code, message } : undefined;
}

function jsonOf(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads `Retry-After`, a number of seconds or a date (RFC 9110, section 10.2.3). The result is limited, so that a server can
 * forward it in digits, without an exponent.
 */
function secondsOf(retryAfter: string): number | undefined {
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(2 ** 31 - 1, Math.max(0, Math.ceil(seconds)));
}
