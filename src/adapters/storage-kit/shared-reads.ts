import { nextTurn } from '../../application/next-turn.ts';
import { waitAtMost } from '../../application/wait-at-most.ts';

/** How long calls wait for a read that hangs, in milliseconds. */
const PATIENCE = 20;

/** Equal calls of a turn share a read, but none that began before the call, because it can lack an acknowledged write. */
export class SharedReads<R> {
  /** By the keys of the calls: the read that has not begun yet, and the one that began last. */
  readonly #waiting = new Map<string, Promise<R>>();
  readonly #running = new Map<string, Promise<R>>();

  /** @param key is the same for equal calls only */
  share(key: string, read: () => Promise<R>): Promise<R> {
    let waiting = this.#waiting.get(key);
    if (waiting === undefined) {
      waiting = this.#begin(key, read);
      this.#waiting.set(key, waiting);
    }
    return waiting;
  }

  async #begin(key: string, read: () => Promise<R>): Promise<R> {
    // The callers of the last read are likely to call again when it ends, and then share this one.
    const last = this.#running.get(key);
    if (last !== undefined) await waitAtMost(PATIENCE, last);
    await nextTurn();
    this.#waiting.delete(key);
    const running = read();
    this.#running.set(key, running);
    try {
      return await running;
    } finally {
      if (this.#running.get(key) === running) this.#running.delete(key);
    }
  }
}
