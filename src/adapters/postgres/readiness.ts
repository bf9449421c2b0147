import type { Connections, Statement } from './connections.ts';
import { storageError } from './errors.ts';
import type { Health } from './health.ts';
import type { Reader } from './reader.ts';

/** The minimum interval between two tests of the database, in milliseconds. */
const INTERVAL = 500;

const READ: Statement = { name: 'ping', text: 'SELECT version FROM animal_store_schema', values: [] };
const WRITE: Statement = { text: 'UPDATE animal_store_schema SET probed_at = now()', values: [] };

/**
 * Checks whether the database can handle requests, with a read as requests make it. After a failed create, also tests
 * whether a write is durable. All checks within {@link INTERVAL} milliseconds share one test.
 */
export class Readiness {
  readonly #health: Health;
  readonly #reader: Reader;
  readonly #connections: Connections;
  #test: Promise<void> = Promise.resolve();
  #testedAt = Number.NEGATIVE_INFINITY;

  /** @param connections connections for writes */
  constructor(health: Health, reader: Reader, connections: Connections) {
    this.#health = health;
    this.#reader = reader;
    this.#connections = connections;
  }

  /** Resolves when reads and writes work, and rejects with the fault otherwise. */
  async check(): Promise<void> {
    const now = performance.now();
    if (now - this.#testedAt >= INTERVAL) {
      this.#testedAt = now;
      this.#test = this.#run();
    }
    await this.#test;
    const { fault } = this.#health;
    if (fault !== undefined) throw fault;
  }

  async #run(): Promise<void> {
    const reading = this.#reader.query(READ).catch(() => {});
    if (this.#health.isFaulty('write')) {
      const outcome = await this.#connections.run(WRITE);
      if ('rows' in outcome) this.#health.succeeded('write');
      else this.#health.failed('write', storageError(outcome.error));
    }
    await reading;
  }
}
