import { setTimeout as delay } from 'node:timers/promises';
import { type ClientBase, type ClientConfig, Pool, type PoolClient, type QueryArrayConfig } from 'pg';
import { CallQueue } from '../../application/call-queue.ts';
import type { ConnectionStatistics } from '../../application/ports/statistics.ts';
import { closedError } from '../../application/ports/storage.ts';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { hadNoEffect, isReadOnly, isSerializationFailure, outcomeUnknown, storageError } from './errors.ts';
import { COMMIT, type Outcome, type Row, type Run, type Session, type Statement } from './statement.ts';

/** How long no new attempt to connect is made after a failed one, in milliseconds. */
const RETRY_INTERVAL = 100;

/** How long a statement of a long session may take, and how long the server may take to close connections, in milliseconds. */
export const LONG_TIMEOUT = 60_000;
const CLOSE_TIMEOUT = 1000;

/** How often a statement that writes is sent at most. */
const ATTEMPTS = 5;

/**
 * The share of the deadline of a statement after which the server cancels the statement, so that a statement that waits
 * for a lock is not stored later. The server does not cancel a commit.
 */
const TIMEOUT_SHARE = 0.9;

/** Prepares a new connection. A startup parameter would not pass a pooler. */
const PREPARE =
  "SELECT current_setting('transaction_read_only'), set_config('statement_timeout', $1::text, false)";

/**
 * The function of PostgreSQL in which a commit waits for a synchronous standby. After a cancelled wait, the commit
 * succeeds with a warning from this function. The text of the warning depends on the language of the server, and its
 * code is the code of all warnings.
 */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

/**
 * Connections to the database, each of which carries one statement at a time. A connection whose statement has failed
 * without a definite result is closed. All methods but `run` reject with an `AnimalStoreError`.
 */
export class Connections {
  /** How long a call may wait for a connection, in milliseconds. */
  readonly waitTimeout: number;
  /** Called when a connection was opened. It can lead to another server than the connections before it. */
  onConnect: () => void = () => {};
  readonly #max: number;
  readonly #pool: Pool;
  /** The connections with a commit that no standby has confirmed. */
  readonly #unconfirmed = new WeakSet<ClientBase>();
  /** Each function ends a session. The value tells whether `close` calls it. */
  readonly #sessions = new Map<() => void, boolean>();
  #failure: { readonly error: unknown; readonly until: number } = { error: undefined, until: 0 };
  #closed: Promise<void> | undefined;

  /** @param limits the maximum number of connections, and the number of those that stay open without use */
  constructor(config: ClientConfig, limits: { readonly max: number; readonly min?: number }) {
    this.waitTimeout = config.connectionTimeoutMillis ?? 0;
    this.#max = limits.max;
    const statementTimeout = Math.ceil(TIMEOUT_SHARE * (config.query_timeout ?? 0));
    this.#pool = new Pool({
      ...config,
      ...limits,
      // After `close`, the process does not wait for a server that hangs.
      allowExitOnIdle: true,
      onConnect: (client) => this.#prepare(client, statementTimeout),
    });
    // The pool removes a connection that fails while it is unused.
    this.#pool.on('error', () => {});
  }

  get statistics(): ConnectionStatistics {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** The number of connections that can be used now: after the server has refused one, those that are open. */
  get available(): number {
    return performance.now() < this.#failure.until ? Math.max(1, this.#pool.totalCount) : this.#max;
  }

  /** Returns a queue for calls that wait for a connection. */
  newQueue<T, R>(): CallQueue<T, R> {
    return new CallQueue({
      timeout: this.waitTimeout,
      full: 'too many calls wait for the database',
      late: `the database was busy for ${this.waitTimeout / 1000} s: the call had no effect`,
    });
  }

  /** Runs one statement in a transaction of its own. Never rejects. */
  async run(statement: Statement): Promise<Outcome> {
    let client: PoolClient | undefined;
    try {
      client = await this.#connect();
      const rows = await this.#query(client, statement);
      client.release();
      return { rows };
    } catch (error) {
      const isUnknown = client !== undefined && !hadNoEffect(error);
      // Another server may accept the writes that a server refuses, and the next connection may lead to it.
      client?.release(isUnknown || isReadOnly(error));
      return { error, isUnknown, isUnsent: client === undefined };
    }
  }

  /** Runs one statement that writes. Repeats it after a serialization failure. */
  async write(text: string, values: unknown[]): Promise<readonly Row[]> {
    this.assertOpen();
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.run({ text, values });
      if ('rows' in outcome) return outcome.rows;
      const { error, isUnknown } = outcome;
      if (isSerializationFailure(error) && attempt < ATTEMPTS) continue;
      throw isUnknown ? outcomeUnknown(error) : storageError(error);
    }
  }

  /**
   * Opens a session, which `close` ends if `timeout` is given, and waits for otherwise.
   *
   * @param timeout how long each statement may take, in milliseconds; by default the deadline of the connection
   */
  async openSession(timeout?: number): Promise<Session> {
    const client = await this.#connect();
    const release = () => {
      if (this.#sessions.delete(release)) client.release(true);
    };
    this.#sessions.set(release, timeout !== undefined);
    const run: Run = async (text, values = []) => {
      try {
        return await this.#query(client, { text, values }, timeout);
      } catch (error) {
        // Without a commit, the statements before had no effect.
        throw text === COMMIT && !hadNoEffect(error) ? outcomeUnknown(error) : storageError(error);
      }
    };
    try {
      if (timeout !== undefined) await run(`SET statement_timeout = ${TIMEOUT_SHARE * timeout}`);
      return { run, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  assertOpen(): void {
    if (this.#closed !== undefined) throw closedError();
  }

  /** Waits for the statements in flight, and disconnects. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    for (const [release, isLong] of this.#sessions) if (isLong) release();
    // A server that hangs closes no connection.
    const late = delay(this.waitTimeout + CLOSE_TIMEOUT, undefined, { ref: false });
    await Promise.race([this.#pool.end(), late]);
  }

  async #connect(): Promise<PoolClient> {
    this.assertOpen();
    if (this.#pool.idleCount === 0 && performance.now() < this.#failure.until) throw this.#failure.error;
    try {
      return await this.#pool.connect();
    } catch (error) {
      this.#failure = { error: storageError(error), until: performance.now() + RETRY_INTERVAL };
      throw this.#failure.error;
    }
  }

  /** A new connection to a server that accepts no writes is refused: the next one may lead to the primary. */
  async #prepare(client: ClientBase, statementTimeout: number): Promise<void> {
    client.on('notice', ({ routine }) => {
      if (routine === WAIT_FOR_STANDBY) this.#unconfirmed.add(client);
    });
    // A connection that fails while it is used rejects the statement in flight.
    client.on('error', () => {});
    const [row] = await this.#query(client, { text: PREPARE, values: [statementTimeout] });
    if (row?.[0] === 'on') throw new StorageFault('read_only', 'the database server accepts no writes');
    this.onConnect();
  }

  async #query(client: ClientBase, statement: Statement, timeout?: number): Promise<readonly Row[]> {
    // The type declarations of the driver lack `query_timeout`.
    const config: QueryArrayConfig & { query_timeout?: number } = { ...statement, rowMode: 'array' };
    if (timeout !== undefined) config.query_timeout = timeout;
    const { rows } = await client.query(config);
    if (this.#unconfirmed.has(client)) {
      throw new StorageFault('not_responding', 'no standby server has confirmed the commit');
    }
    return rows;
  }
}
