import { atMost } from './at-most.ts';
import { nextTurn } from './next-turn.ts';

/** How long calls wait for a read that hangs, in milliseconds. */
const PATIENCE = 20;

interface SharedRead<R> {
  readonly running: Promise<R>;
  /** The read of the calls that arrived since then. */
  next?: Promise<R>;
}

/** Equal calls share a read, but none that began before the call, because it can lack an acknowledged write. */
export class SharedReads<R> {
  readonly #reads = new Map<string, SharedRead<R>>();

  /** @param key is the same for equal calls only */
  share(key: string, read: () => Promise<R>): Promise<R> {
    const current = this.#reads.get(key);
    if (current === undefined) return this.#begin(key, read);
    current.next ??= this.#beginAfter(current.running, key, read);
    return current.next;
  }

  #begin(key: string, read: () => Promise<R>): Promise<R> {
    const current: SharedRead<R> = { running: read() };
    this.#reads.set(key, current);
    const end = () => {
      if (current.next === undefined) this.#reads.delete(key);
    };
    current.running.then(end, end);
    return current.running;
  }

  /** Waits for the callers that have just got a result, because they are likely to call again. */
  async #beginAfter(running: Promise<R>, key: string, read: () => Promise<R>): Promise<R> {
    await atMost(PATIENCE, running);
    await nextTurn();
    return await this.#begin(key, read);
  }
}
