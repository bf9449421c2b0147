import type { Health } from './health.ts';
import type { Writer } from './writer.ts';

/**
 * The minimum interval between two probes, and the maximum time for which a check waits for a probe, in milliseconds.
 */
const PROBE_INTERVAL = 500;
const PROBE_TIMEOUT = 1000;

/**
 * Checks whether the storage can serve. The findings that a check uses are usually not older than
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
   * within {@link PROBE_INTERVAL} milliseconds share one probe.
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
 * Resolves when `promise` resolves, but after `milliseconds` at the latest. The limit ensures that a slow disk does not
 * delay the caller. The writer detects a disk that does not respond.
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
