import type { Health } from './health.ts';
import type { Writer } from './writer.ts';

/**
 * The minimum interval between two probes, and how long a readiness check waits for a probe, in milliseconds. A probe
 * tests whether the storage can be read and, after a failed write, whether it can be written.
 */
const PROBE_INTERVAL = 500;
const PROBE_TIMEOUT = 1000;

/**
 * Checks whether the storage can handle requests. The result is usually based on a test of the storage in the last
 * {@link PROBE_INTERVAL} milliseconds.
 */
export class Readiness {
  readonly #health: Health;
  readonly #writer: Writer;
  #probe: Promise<void> = Promise.resolve();
  #probedAt = Number.NEGATIVE_INFINITY;

  constructor(health: Health, writer: Writer) {
    this.#health = health;
    this.#writer = writer;
  }

  /**
   * Resolves when the storage has no known fault, and rejects with the most important fault otherwise. All checks
   * within {@link PROBE_INTERVAL} milliseconds share one test of the storage.
   */
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

/**
 * Resolves when `promise` resolves, but after `milliseconds` at the latest, so that a slow disk does not delay the
 * caller. A disk that does not respond at all is detected by the timeout of `WriterHandle`.
 */
function atMost(milliseconds: number, promise: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    void promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
