/** A client that can be given up, such as a socket, or one of its requests. */
interface SlowClient {
  destroy(): void;
}

/**
 * Limits what slow clients take, for bodies that they have not sent completely or for responses that they have not read.
 * Beyond the limit, the client is given up that has made no progress for the longest time.
 */
export class SlowClients {
  readonly #limit: number;
  /** What each client takes, in the order of their last progress. */
  readonly #sizes = new Map<SlowClient, number>();
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  hold(client: SlowClient, size: number): void {
    this.#sizes.set(client, (this.#sizes.get(client) ?? 0) + size);
    this.#total += size;
    for (const [oldest] of this.#sizes) {
      if (this.#total <= this.#limit) return;
      this.release(oldest);
      oldest.destroy();
    }
  }

  /** Takes off what a client has sent or read; by default everything. Does nothing for a client that was given up. */
  release(client: SlowClient, size: number = Infinity): void {
    const held = this.#sizes.get(client) ?? 0;
    this.#total -= Math.min(size, held);
    this.#sizes.delete(client);
    if (held > size) this.#sizes.set(client, held - size);
  }
}
