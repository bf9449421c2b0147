import { atMost } from '../../application/at-most.ts';

/** How long calls wait for a read that hangs, in milliseconds. */
const PATIENCE = 20;

/** Equal calls share a read, but none that was sent before the call, because it can lack an acknowledged write. */
export class SharedReads<R> {
  /** By the keys of the calls: the read that is not sent yet, and the one that began last. */
  readonly #unsent = new Map<string, Promise<R>>();
  readonly #running = new Map<string, Promise<R>>();

  /**
   * @param key is the same for equal calls only
   * @param read calls `onSend` when the read is sent, in a later turn of the event loop
   */
  share(key: string, read: (onSend: () => void) => Promise<R>): Promise<R> {
    let unsent = this.#unsent.get(key);
    if (unsent === undefined) {
      unsent = this.#begin(key, read);
      this.#unsent.set(key, unsent);
    }
    return unsent;
  }

  /** Waits for the last read, because its callers are likely to call again, and then share this one. */
  async #begin(key: string, read: (onSend: () => void) => Promise<R>): Promise<R> {
    let isSent = false;
    const onSend = () => {
      if (!isSent) this.#unsent.delete(key);
      isSent = true;
    };
    const last = this.#running.get(key);
    if (last !== undefined) await atMost(PATIENCE, last);
    const running = read(onSend);
    this.#running.set(key, running);
    try {
      return await running;
    } finally {
      // A read that fails may never have been sent.
      onSend();
      if (this.#running.get(key) === running) this.#running.delete(key);
    }
  }
}
