import { AnimalStoreError, ERROR_CODES, type ErrorCode } from '../../domain/errors.ts';

/** A response whose body was read. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Whether the body has more bytes than {@link RESPONSE_LIMIT}, so that it was not read. */
  readonly isTooLarge?: boolean;
}

/** The maximum size of a body in bytes, after decompression: three times that of 100 pets with the largest names. */
export const RESPONSE_LIMIT: number = 1024 * 1024;

/** The codes of responses that do not come from an Animal Store server, such as those of a proxy. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  412: 'precondition_failed',
  429: 'rate_limited',
};

/** In seconds (RFC 9111, section 1.2.2). */
const RETRY_AFTER_MAX = 2 ** 31 - 1;

const EXAMPLE = 'expected a base address such as https://pets.example.org/v1';

export function errorOf(response: ApiResponse, base: string): AnimalStoreError {
  const { status, headers, text, isTooLarge } = response;
  if (isTooLarge) return unreadable(base, new Error(`the response has more than ${RESPONSE_LIMIT} bytes`));
  if (status === 404 || status === 410) {
    return new AnimalStoreError('invalid_request', `${base} is not the address of an API: ${EXAMPLE}`);
  }
  if (status >= 200 && status < 300) return unreadable(base, new Error(`unexpected status ${status}`));
  // In a browser, a redirect has the status 0, and its target is hidden.
  if (status < 400) {
    const target = headers.get('Location') ?? 'another address';
    return new AnimalStoreError('storage_unavailable', `${base} redirects to ${target}: ${EXAMPLE}`);
  }
  const retryAfter = secondsOf(headers.get('Retry-After'));
  const { code, message = `${base} responds with status ${status}` } = errorBody(text);
  if (code === 'unauthorized') {
    return new AnimalStoreError(code, `${base} refuses the API key: ${message}`);
  }
  const known = ERROR_CODES.find((each) => each === code) ?? CODE_OF_STATUS[status];
  const fallback = status >= 500 || status === 408 ? 'storage_unavailable' : 'internal_error';
  return new AnimalStoreError(known ?? fallback, message, { retryAfter });
}

/**
 * Whether a response says that nothing was stored. Only an error of the API does: a gateway can have replaced the response of
 * the server by one with any status.
 */
export function saysNothingStored({ status, text }: ApiResponse): boolean {
  const { code, status: told } = errorBody(text);
  const isOfApi = told === status && typeof code === 'string';
  return isOfApi && (code === 'overloaded' || (status >= 400 && status < 500 && status !== 408));
}

/** The codes of Node.js and Bun for a connection that was not opened, so that no request was sent. */
const NOT_CONNECTED: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
];

export function isNotConnected(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (NOT_CONNECTED.includes((each as Error & { readonly code?: string }).code ?? '')) return true;
  }
  return false;
}

export function unreachable(base: string, cause: unknown): AnimalStoreError {
  const { message } = innermost(cause);
  return new AnimalStoreError('storage_unavailable', `${base} cannot be reached: ${message}`, { cause });
}

export function unreadable(base: string, cause: unknown): AnimalStoreError {
  const message = `${base} does not respond as the API does: ${(cause as Error).message}`;
  return new AnimalStoreError('storage_unavailable', message, { cause });
}

/** The error of a create that may have stored its pet. */
export function unknownOutcome(error: AnimalStoreError, idempotencyKey: string): AnimalStoreError {
  const message = `${error.message}; the pet may be stored: repeat the create with the idempotencyKey of this error`;
  return new AnimalStoreError(error.code, message, {
    cause: error,
    retryAfter: error.retryAfter,
    idempotencyKey,
  });
}

/** Returns the error that says most: the message of `fetch` alone is the same for every fault. */
function innermost(error: unknown): Error {
  const { cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? innermost(cause) : (error as Error);
}

function errorBody(text: string): {
  readonly code?: string;
  readonly message?: string;
  readonly status?: number;
} {
  try {
    const { code, message, status } = JSON.parse(text);
    return typeof message === 'string' ? { code, message, status } : {};
  } catch {
    return {};
  }
}

/** Reads `Retry-After`, which is a number of seconds or a date (RFC 9110, section 10.2.3). */
function secondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  const seconds = /^\d+$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, Math.ceil(seconds)), RETRY_AFTER_MAX);
}
