import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The default of the maximum size of all responses that are buffered because clients do not read, in bytes. Text that is
 * not ASCII counts as one byte for each UTF-16 code unit, as in `writableLength`.
 */
const TOTAL_LIMIT = 128 * 1024 * 1024;

/** A response counts as at most this size. Only files of the reference page are larger, and responses share their bytes. */
const RESPONSE_LIMIT = 192 * 1024;

/**
 * Limits the total size of the responses that are buffered because clients do not read them. Beyond the limit, the
 * connections are closed whose clients have not completed a response for the longest time.
 */
export class UnsentResponses {
  readonly #limit: number;
  /** The buffered bytes of each connection. The connection that was inactive for the longest time is the first. */
  readonly #sizes = new Map<Socket, number>();
  #total = 0;

  constructor(limit: number = TOTAL_LIMIT) {
    this.#limit = limit;
  }

  /** The total size of the buffered responses, in bytes. */
  get size(): number {
    return this.#total;
  }

  /** Counts a response until it was sent. Must be called after the response was written, and only if bytes are left. */
  add(res: ServerResponse, socket: Socket): void {
    if (socket.destroyed) return;
    const size = Math.min(res.writableLength, RESPONSE_LIMIT);
    this.#sizes.set(socket, (this.#sizes.get(socket) ?? 0) + size);
    this.#total += size;
    res.once('finish', () => this.#sent(socket, size));
    while (this.#total > this.#limit) this.#closeOldest();
  }

  #sent(socket: Socket, size: number): void {
    const known = this.#sizes.get(socket);
    if (known === undefined) return;
    this.#total -= size;
    this.#sizes.delete(socket);
    if (known > size) this.#sizes.set(socket, known - size);
  }

  #closeOldest(): void {
    const [oldest] = this.#sizes.keys();
    if (oldest === undefined) return;
    this.forget(oldest);
    oldest.destroy();
  }

  /** No longer counts the responses of a connection. Must be called when the connection is closed. */
  forget(socket: Socket): void {
    this.#total -= this.#sizes.get(socket) ?? 0;
    this.#sizes.delete(socket);
  }
}
