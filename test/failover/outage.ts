/** Measures for how long a server refused requests. */
export class Outage {
  /** The longest outage that has ended, in milliseconds. */
  #longest = 0;
  #since: number | undefined;
  #endedAt = Number.NEGATIVE_INFINITY;
  #wasOk = false;

  /** Whether the last request was successful. */
  get isOver(): boolean {
    return this.#wasOk;
  }

  /** The time when the last outage ended. */
  get endedAt(): number {
    return this.#endedAt;
  }

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
    this.#wasOk = isOk;
    if (!isOk) {
      this.#since ??= sentAt;
      return;
    }
    if (this.#since === undefined) return;
    this.#endedAt = performance.now();
    this.#longest = Math.max(this.#longest, this.#endedAt - this.#since);
    this.#since = undefined;
  }
}
