import { AnimalStoreError, ERROR_CODES, type ErrorCode } from '../../domain/errors.ts';

/** A response whose body was read. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The codes of responses that do not come from an Animal Store server, such as those of a proxy. */
const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  412: 'precondition_failed',
  429: 'rate_limited',
};

const EXAMPLE = 'expected a base address such as https://pets.example.org/v1';

export function errorOf({ status, headers, text }: ApiResponse, base: string): AnimalStoreError {
  if (status === 404 || status === 410) {
    return new AnimalStoreError('storage_unavailable', `${base} is not the address of an API: ${EXAMPLE}`);
  }
  if (status < 300) return unreadable(base, new Error(`unexpected status ${status}`));
  if (status < 400) {
    const target = headers.get('Location') ?? 'another address';
    return new AnimalStoreError('storage_unavailable', `${base} redirects to ${target}: ${EXAMPLE}`);
  }
  const retryAfter = secondsOf(headers.get('Retry-After'));
  const { code, message = `${base} responds with status ${status}` } = errorBody(text);
  const known = ERROR_CODES.find((each) => each === code) ?? CODE_OF_STATUS[status];
  const fallback = status >= 500 || status === 408 ? 'storage_unavailable' : 'internal_error';
  return new AnimalStoreError(known ?? fallback, message, { retryAfter });
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

function errorBody(text: string): { readonly code?: string; readonly message?: string } {
  try {
    const { code, message } = JSON.parse(text);
    return typeof message === 'string' ? { code, message } : {};
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
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}
