/**
 * After a group of creates, the writer may wait for more creates, so that the next group stores more of them with one
 * fsync. The wait takes the fraction SHARE of the duration of the last group, but at most MAX milliseconds. A wait of
 * less than MIN milliseconds is skipped, because it is not worth a timer.
 */
const SHARE = 1 / 4;
const MIN = 1;
const MAX = 50;

/**
 * Waits a short time between two groups of creates, so that the callers of the last group can send their next creates.
 * Without this wait, a slow disk would split the callers into two groups. Each group would wait while the creates of
 * the other group are committed.
 */
export class Gathering {
  #wait: { readonly enough: number; readonly end: () => void } | undefined;

  /**
   * Resolves when enough creates are pending, or when the time is over. Returns `undefined` when no wait is worth it.
   *
   * @param last the number of creates in the last group, and its duration in milliseconds
   * @param pending the number of pending creates
   * @param limit the maximum number of creates in one group
   */
  wait(
    last: { readonly count: number; readonly ms: number },
    pending: number,
    limit: number,
  ): Promise<void> | undefined {
    const enough = Math.min(pending + last.count, limit);
    const time = Math.min(last.ms * SHARE, MAX);
    if (enough < 2 || pending >= enough || time < MIN) return undefined;
    return new Promise((resolve) => {
      const timer = setTimeout(() => end(), time);
      const end = () => {
        clearTimeout(timer);
        this.#wait = undefined;
        resolve();
      };
      this.#wait = { enough, end };
    });
  }

  /** Must be called when a create was added. */
  added(pending: number): void {
    if (this.#wait !== undefined && pending >= this.#wait.enough) this.#wait.end();
  }

  /** Ends the wait, because no create will follow. */
  end(): void {
    this.#wait?.end();
  }
}
