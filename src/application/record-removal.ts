import type { CreatePetOnce } from './create-pet-once.ts';
import { nextTurn } from './next-turn.ts';

/** How often old records are removed, in milliseconds. */
const INTERVAL = 60_000;

/** Removes old idempotency records once a minute, in many small transactions, so that other writes do not wait long. */
export class RecordRemoval {
  readonly #createPetOnce: Pick<CreatePetOnce, 'removeOldRecords'>;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isRunning = false;

  constructor(createPetOnce: Pick<CreatePetOnce, 'removeOldRecords'>) {
    this.#createPetOnce = createPetOnce;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => void this.#removeAll(), INTERVAL);
    // The timer must not keep the process alive. In a browser, it is a number.
    if (typeof this.#timer === 'object') this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Removes all old records. After a failure, the next call continues. */
  async #removeAll(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while (this.#timer !== undefined && (await this.#createPetOnce.removeOldRecords())) await nextTurn();
    } catch {
    } finally {
      this.#isRunning = false;
    }
  }
}
