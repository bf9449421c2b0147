import { hashOf } from '../../application/entity-tag.ts';
import type { Caller } from '../../application/ports/idempotent-creates.ts';
import type { CallOptions } from '../../application/ports/pet-repository.ts';
import { closedError } from '../../application/ports/storage.ts';
import { checkedCaller, IDEMPOTENCY_KEY_MAX_LENGTH } from '../../domain/idempotency-key.ts';
import { randomHex } from '../storage-kit/random-hex.ts';
import type { ApiResponse } from './errors.ts';
import type { ApiRequest, Send } from './request.ts';

/** A call of an operation. */
export interface ApiCall<T> extends Omit<ApiRequest<T>, 'key'> {
  /** The caller of a write, and its idempotency key. By default, a write gets a new key. */
  readonly caller?: Caller | undefined;
}

/** Called after each successful response, with the name of the operation and the header fields. */
export type ResponseListener = (operation: string, headers: Headers) => void;

interface ApiClientParts {
  readonly base: string;
  readonly send: Send;
  readonly onResponse?: ResponseListener;
}

/** Calls the operations of a server. Each write has an idempotency key, so that a retry of its request does not write twice. */
export class ApiClient {
  readonly #parts: ApiClientParts;
  readonly #writes = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  constructor(parts: ApiClientParts) {
    this.#parts = parts;
  }

  /** @param operation the name that the listener gets, such as `listPets`; without it, the listener is not called */
  async call<T>(
    operation: string | undefined,
    path: string,
    { write, caller, read, ...request }: ApiCall<T>,
    { timeout, signal }: CallOptions = {},
  ): Promise<T> {
    const { base, send, onResponse } = this.#parts;
    const by = write && checkedCaller(caller ?? { caller: '', key: randomHex(16) });
    const text = by && textOf(by);
    const sent = text && text.length > IDEMPOTENCY_KEY_MAX_LENGTH ? `@/${await hashOf(text)}` : text;
    const { signal: closing } = this.#closing;
    closing.throwIfAborted();
    const keyed: ApiRequest<T> = {
      ...request,
      headers: { ...request.headers, ...(sent && { 'Idempotency-Key': sent }) },
      write,
      key: by?.key,
      read(response) {
        if (operation) onResponse?.(operation, response.headers);
        return read(response);
      },
    };
    const ending = signal ? AbortSignal.any([closing, signal]) : closing;
    const sending = send(base + path, keyed, { timeout, signal: write ? signal : ending });
    if (write) this.#writes.add(sending);
    return await sending.finally(() => this.#writes.delete(sending));
  }

  /** Ends the reads in flight, makes all later calls reject, and resolves when the writes in flight have ended. */
  async close(): Promise<void> {
    this.#closing.abort(closedError());
    await Promise.allSettled(this.#writes);
  }
}

/** Whether an earlier request with the same idempotency key has made the write. */
export function isReplay({ headers }: ApiResponse): boolean {
  return headers.get('Idempotency-Replayed') === 'true';
}

/** Returns the address of the next page, which can be relative (RFC 8288). */
export function nextLink({ headers }: ApiResponse): string | undefined {
  return /<([^<>]*)>[^<]*;\s*rel="?next\b/i.exec(headers.get('Link') ?? '')?.[1];
}

/**
 * Puts the URL-encoded caller and a slash before the key, unless the caller is empty and the key has no slash. All callers share
 * one API key on the server, and their idempotency keys must not collide. The encoded caller contains no slash, so it ends at the
 * first slash. If the result is too long, `call` sends `@/` and the result's hash instead. This text cannot collide with
 * another key, because no encoded caller is `@`.
 */
function textOf({ caller, key }: Caller): string {
  return caller === '' && !key.includes('/') ? key : `${encodeURIComponent(caller)}/${key}`;
}
