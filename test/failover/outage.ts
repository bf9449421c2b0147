/** Measures for how long a server refused requests. */
export class Outage {
  /** Whether the last request was successful. */
  isOver = false;
  /** The time when the last outage ended. */
  endedAt: number = Number.NEGATIVE_INFINITY;
  #longest = 0;
  #since: number | undefined;

  /** The longest outage since the last call, in milliseconds. */
  takeLongest(): number {
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  /**
   * Notes the result of a request that was sent at the given time. An outage lasts from the time when the first refused
   * request was sent until the next successful response.
   */
  note(isOk: boolean, sentAt: number): void {
    this.isOver = isOk;
    if (!isOk) this.#since ??= sentAt;
    else if (this.#since !== undefined) {
      this.endedAt = performance.now();
      this.#longest = Math.max(this.#longest, this.endedAt - this.#since);
      this.#since = undefined;
    }
  }
}
