import type { CallOptions } from '../../application/ports/pet-repository.ts';
import type { Write } from '../../application/until-aborted.ts';
import type { Caller } from '../../application/versioned-writes.ts';
import { type ApiResponse, unknownOutcome, unreadable } from './errors.ts';
import type { ApiRequest, Send } from './request.ts';

const KEY_BYTES = 16;

interface WriteRequest extends Omit<ApiRequest, 'write'> {
  readonly write: Write;
  /** By default, the write has a new idempotency key. */
  readonly caller: Caller | undefined;
}

/** Sends writes. Each has an idempotency key, so that a retry of the request is no second write. */
export class ApiWriter {
  readonly #base: string;
  readonly #send: Send;
  readonly #writes = new Set<Promise<unknown>>();

  constructor(base: string, send: Send) {
    this.#base = base;
    this.#send = send;
  }

  /** @param read returns the result of the write, or throws when the response is not that of the API */
  async send<T>(
    operation: string,
    path: string,
    { write, caller: { caller, key } = { caller: '', key: newKey() }, headers, ...request }: WriteRequest,
    read: (response: ApiResponse) => T,
    options: CallOptions | undefined,
  ): Promise<T> {
    const sentHeaders = { ...headers, 'Idempotency-Key': sentKey(caller, key) };
    const keyed = { ...request, headers: sentHeaders, write: { kind: write, key } };
    const writing = this.#send(operation, this.#base + path, keyed, options);
    this.#writes.add(writing);
    const response = await writing.finally(() => this.#writes.delete(writing));
    try {
      return read(response);
    } catch (error) {
      throw unknownOutcome(write, unreadable(this.#base, error), key);
    }
  }

  async settle(): Promise<void> {
    await Promise.allSettled(this.#writes);
  }
}

/** Whether an earlier request with the same idempotency key has made the write. */
export function isReplay({ headers }: ApiResponse): boolean {
  return headers.get('Idempotency-Replayed') === 'true';
}

/**
 * Returns the key that the server gets, to which all callers here are one. It is different for each pair of a caller and a
 * key, because an encoded caller contains no slash.
 */
function sentKey(caller: string, key: string): string {
  return caller === '' && !key.includes('/') ? key : `${encodeURIComponent(caller)}/${key}`;
}

/** Returns a new idempotency key. `crypto.randomUUID` is missing on pages that a browser has loaded over HTTP. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
