/** Sends requests to a server, and retries them. */

import { pause } from '../../application/pause.ts';
import { DAY } from '../../application/ports/idempotent-creates.ts';
import type { CallOptions } from '../../application/ports/pet-repository.ts';
import type { ClientOptions } from '../../application/store-options.ts';
import { abortedWrite, type Write } from '../../application/until-aborted.ts';
import type { AnimalStoreError } from '../../domain/errors.ts';
import {
  type ApiResponse,
  failureOf,
  type OperationStatuses,
  RESPONSE_LIMIT,
  unknownOutcomeOf,
  unreachable,
  unreadableSuccess,
} from './errors.ts';

/**
 * In milliseconds. The random part of the pause before a retry is at most `FIRST_PAUSE` at first. This maximum doubles with each
 * retry up to `LAST_PAUSE`.
 */
const FIRST_PAUSE = 100;
const LAST_PAUSE = 2000;

/** The default timeout of a call, in milliseconds. */
const DEFAULT_TIMEOUT = 30_000;
/** An attempt is cancelled after this share of the timeout of the call, because its connection may be dead. */
const ATTEMPT_SHARE = 1 / 3;
/** The minimum time of an attempt, in milliseconds, unless the call has less time left. */
const ATTEMPT_MIN = 1000;

export interface ApiRequest<T> extends OperationStatuses {
  /** Default: `GET`. Retries send the request again, whatever its method. */
  readonly method?: string;
  /** The status of a success. Default: 200. */
  readonly success?: number;
  /** The header fields in addition to those of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly write?: Write | undefined;
  /** The idempotency key to name in the error of a write. The field in `headers` can also contain the caller. */
  readonly key?: string | undefined;
  /** Reads the result from the response. Throws when the response does not conform to the API. */
  readonly read: (response: ApiResponse) => T;
}

/** Sends a request. Rejects with an `AnimalStoreError`, or with the reason of the signal. */
export type Send = <T>(url: string, request: ApiRequest<T>, options?: CallOptions) => Promise<T>;

/**
 * Returns a function that sends a request, and retries it until it succeeds, a retry cannot help, or its time is over.
 *
 * @param headers the header fields of all requests
 */
export function sender(
  base: string,
  headers: Readonly<Record<string, string>>,
  { timeout: defaultTimeout = DEFAULT_TIMEOUT, fetch }: ClientOptions,
): Send {
  const cache = uncached();
  return async (url, request, { timeout = defaultTimeout, signal } = {}) => {
    const { method = 'GET', body = null, success = 200, write, key, read } = request;
    const init: RequestInit = {
      method,
      headers: { ...headers, ...request.headers },
      redirect: 'manual',
      body,
      ...cache,
    };
    const end = performance.now() + timeout;
    // After a day, the server has forgotten the idempotency key. `Date.now()` measures the day, because `performance.now()` can
    // stop while the computer sleeps.
    const lastRetry = Date.now() + DAY;
    const left = () => Math.min(end - performance.now(), lastRetry - Date.now());
    const attemptTimeout = Math.max(timeout * ATTEMPT_SHARE, ATTEMPT_MIN);
    let isStoredPossibly = false;
    let last: AnimalStoreError | undefined;
    signal?.throwIfAborted();
    for (let retry = 0; ; retry += 1) {
      const time = Math.min(left(), attemptTimeout);
      // Without the option, this is the global `fetch` at the time of the call.
      const result = await attempt(fetch ?? globalThis.fetch, url, init, time, signal).then(
        (response) => {
          try {
            if (response.status === success && !response.isTooLarge) return { value: read(response) };
            return failureOf(response, base, request);
          } catch (cause) {
            return unreadableSuccess(response, base, cause);
          }
        },
        (error: unknown) => {
          if (signal?.aborted) throw write ? abortedWrite(write, signal, key) : signal.reason;
          const lost = unreachable(base, error);
          // If a read runs out of time during an attempt, the error of the previous attempt is reported.
          return last && !write && left() <= 1 ? { ...lost, error: last } : lost;
        },
      );
      if ('value' in result) return result.value;
      const { error, isFinal, ...failure } = result;
      last = error;
      isStoredPossibly ||= failure.isStoredPossibly;
      const wait = pauseBefore(retry, error.retryAfter);
      const mayRetry = !isFinal && wait < left();
      if (mayRetry) {
        await pause(wait, signal).catch((reason: unknown) => {
          throw write && isStoredPossibly && signal ? abortedWrite(write, signal, key) : reason;
        });
      }
      // The time is checked again, because on a busy machine, a pause can take longer than planned.
      if (!mayRetry || left() <= 0) {
        // If the key belongs to another request, none of the attempts has written anything.
        const isUnknown = isStoredPossibly && error.code !== 'idempotency_conflict';
        throw write && isUnknown ? unknownOutcomeOf(write, error, key) : error;
      }
    }
  };
}

/** Returns the option that prevents frameworks from caching responses, if the runtime accepts it. */
function uncached(): RequestInit {
  const init = { cache: 'no-store' } as const;
  try {
    new Request('http://localhost', init);
    return init;
  } catch {
    return {};
  }
}

async function attempt(
  fetch: NonNullable<ClientOptions['fetch']>,
  url: string,
  init: RequestInit,
  timeout: number,
  signal: AbortSignal | undefined,
): Promise<ApiResponse> {
  const ending = new AbortController();
  const onAbort = (): void => ending.abort(signal?.reason);
  const onTimeout = (): void =>
    ending.abort(new Error(`no complete response within ${Math.round(timeout)} ms`));
  const timer = setTimeout(onTimeout, timeout);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const response = await fetch(url, { ...init, signal: ending.signal });
    const { status, headers } = response;
    const text = await textOf(response);
    if (text !== undefined) return { status, headers, text };
    ending.abort();
    return { status, headers, text: '', isTooLarge: true };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Returns the body, or `undefined` as soon as it is too large. */
async function textOf(response: Response): Promise<string | undefined> {
  // Some runtimes have no streams.
  if (!response.body) return await response.text();
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > RESPONSE_LIMIT) return undefined;
    text += decoder.decode(value, { stream: true });
  }
}

/** A part of the pause is random, so that clients do not retry together. */
function pauseBefore(retry: number, retryAfter = 0): number {
  return retryAfter * 1000 + Math.random() * Math.min(LAST_PAUSE, FIRST_PAUSE * 2 ** retry);
}
