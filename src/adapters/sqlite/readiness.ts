import type { Health } from './health.ts';
import type { Writer } from './writer.ts';

/** How often the storage is looked at, and how long a check waits for that, in milliseconds. */
const PROBE_INTERVAL = 500;
const PROBE_TIMEOUT = 1000;

/** Whether the storage can serve, as far as is known, and not much longer ago than {@link PROBE_INTERVAL}. */
export class Readiness {
  readonly #health: Health;
  readonly #writer: Writer;
  #probe: Promise<void> = Promise.resolve();
  #probedAt = Number.NEGATIVE_INFINITY;

  constructor(health: Health, writer: Writer) {
    this.#health = health;
    this.#writer = writer;
  }

  /** Checks that come close together share one look. Rejects with the fault, if there is one. */
  async check(): Promise<void> {
    const now = performance.now();
    if (now - this.#probedAt >= PROBE_INTERVAL) {
      this.#probedAt = now;
      this.#health.repeatFailedRead();
      this.#probe = atMost(PROBE_TIMEOUT, this.#writer.probe());
    }
    await this.#probe;
    const { fault } = this.#health;
    if (fault !== undefined) throw fault;
  }
}

/** A disk that is slow must not hold up who asks; one that hangs is found out by the writer. */
function atMost(milliseconds: number, promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
