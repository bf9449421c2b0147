import { atMost } from './at-most.ts';
import { nextTurn } from './next-turn.ts';

/** How long calls wait for a read that hangs, in milliseconds. */
const PATIENCE = 20;

/** Equal calls share a read, but none that began before the call, because it can lack an acknowledged write. */
export class SharedReads<R> {
  /** By the keys of the calls: the read that will begin, and the one that began last. */
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

  /** Waits for the callers that have just got a result, because they are likely to call again. */
  async #begin(key: string, read: () => Promise<R>): Promise<R> {
    const last = this.#running.get(key);
    if (last !== undefined) await atMost(PATIENCE, last);
    await nextTurn();
    this.#waiting.delete(key);
    const running = read();
    this.#running.set(key, running);
    try {
      return await running;
    } finally {
      this.#running.delete(key);
    }
  }
}
