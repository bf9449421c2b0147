import { afterThisTurn, endTimer, startTimer } from './timers.ts';

/** A wait takes this fraction of the last commit, but at most MAX milliseconds. Less than MIN is not worth a timer. */
const FRACTION = 1 / 4;
const MIN = 1;
const MAX = 50;
/** The longest wait without a timer, in milliseconds. */
const TURNS_TIME = 3;

/**
 * Decides when the next commit begins. Without a wait, groups of callers would wait for each other's commits. So the
 * callers of the last batch get a short time to queue their next writes: a commit begins when as many writes are queued
 * as these callers can have queued, or in the first iteration of the event loop that has queued no further write. After
 * a slow commit, it begins when a timer expires, because callers on a network do not queue a write in each iteration.
 */
export class Gathering {
  readonly #limit: number;
  readonly #queued: () => number;
  readonly #commit: () => void;
  /** The number of queued writes at which no more are expected. */
  #enough = 1;
  #wait: { readonly timer?: ReturnType<typeof startTimer> } | undefined;

  /** @param commit begins the next commit of at most `limit` writes, and must call `end` */
  constructor(limit: number, queued: () => number, commit: () => void) {
    this.#limit = limit;
    this.#queued = queued;
    this.#commit = commit;
  }

  /** Must be called when a write was queued and no batch is being committed. */
  added(): void {
    if (this.#wait === undefined) this.#watch(0, performance.now() + TURNS_TIME);
    else if (this.#wait.timer !== undefined && this.#queued() >= this.#enough) this.#commit();
  }

  /** Must be called after the commit of `count` writes, which took `ms` milliseconds. */
  committed(count: number, ms: number): void {
    const queued = this.#queued();
    this.#enough = Math.min(queued + count, this.#limit);
    const time = Math.min(ms * FRACTION, MAX);
    if (queued === 0 || queued >= this.#enough) this.#commit();
    else if (time < MIN) this.#watch(queued, performance.now() + TURNS_TIME);
    else this.#wait = { timer: startTimer(this.#commit, time) };
  }

  /** Ends a wait without a commit. */
  end(): void {
    endTimer(this.#wait?.timer);
    this.#wait = undefined;
  }

  /** Begins the commit unless this iteration of the event loop queues more than `seen` writes. */
  #watch(seen: number, until: number): void {
    const wait = {};
    this.#wait = wait;
    afterThisTurn(() => {
      if (this.#wait !== wait) return;
      const queued = this.#queued();
      if (queued <= seen || queued >= this.#enough || performance.now() >= until) this.#commit();
      else this.#watch(queued, until);
    });
  }
}
