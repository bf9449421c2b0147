import type { Connection } from './connection.ts';
import type { Health } from './health.ts';
import type { Statement } from './statement.ts';

/** The minimum interval between two tests of the database, in milliseconds. */
const INTERVAL = 500;

const READ: Statement = { name: 'ping', text: 'SELECT version FROM animal_store_schema', values: [] };
const WRITE: Statement = {
  name: 'probe',
  text: 'UPDATE animal_store_schema SET probed_at = now()',
  values: [],
};

/**
 * Checks whether the database can handle requests. Uses the connections that requests use. After a failed create, also
 * tests whether a write is durable. All checks within {@link INTERVAL} milliseconds share one test.
 */
export class Readiness {
  readonly #health: Health;
  readonly #readConnection: Connection;
  readonly #writeConnection: Connection;
  #test: Promise<void> = Promise.resolve();
  #testedAt = Number.NEGATIVE_INFINITY;

  constructor(health: Health, readConnection: Connection, writeConnection: Connection) {
    this.#health = health;
    this.#readConnection = readConnection;
    this.#writeConnection = writeConnection;
  }

  /** Resolves when both connections work, and rejects with the fault otherwise. */
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
    const writing = this.#health.isFaulty('write') ? [WRITE] : [READ];
    await Promise.all([this.#readConnection.send([READ]), this.#writeConnection.send(writing)]);
  }
}
