import { setTimeout as delay } from 'node:timers/promises';
import { type ClientBase, type ClientConfig, Pool, type PoolClient } from 'pg';
import type { ConnectionStatistics } from '../../application/ports/statistics.ts';
import { closedError } from '../../application/ports/storage.ts';
import { StorageFault, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { waitAtMost } from '../../application/wait-at-most.ts';
import { ExplicitClient, LONG_TIMEOUT } from './config.ts';
import {
  hadNoEffect,
  isPoolTimeout,
  isReadOnly,
  isSerializationFailure,
  storageError,
  UnconfirmedCommit,
  writeError,
} from './errors.ts';

/** How long no new attempt to connect is made after a failed one, in milliseconds. */
const REFUSAL_TIME = 100;

/** Before a statement is sent again, or another attempt to get a connection, in milliseconds. */
const PAUSE = 10;

/** For the end of all connections, in milliseconds. */
const CLOSE_TIMEOUT = 1000;

/**
 * After these fractions of its deadline, the server cancels a statement, or its wait for a lock, so that it is not stored
 * later. The wait is cancelled first, because its error does not look like a database that does not respond.
 */
const STATEMENT_FRACTION = 0.9;
const LOCK_FRACTION = 0.8;

/** Prepares a new connection. A startup parameter would not pass a pooler. */
const PREPARE = `SELECT current_setting('transaction_read_only'),
  set_config('statement_timeout', $1::text, false), set_config('lock_timeout', $2::text, false)`;

/** What warns after the cancelled wait of a commit. The text of the warning is translated, and all warnings have one code. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

/** The server plans a statement with a name once for each connection. */
export interface SqlStatement {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
}

export type ResultRow = readonly unknown[];

export type RunSql = (text: string, values?: unknown[]) => Promise<readonly ResultRow[]>;

/** A pool of connections, whose deadlines end also the statements of a server that hangs. */
export class ConnectionPool {
  /** How long a call may wait for a connection, in milliseconds. */
  readonly waitTimeout: number;
  readonly #pool: Pool;
  readonly #queryTimeout: number;
  /** The connections with a commit that no standby has confirmed. */
  readonly #unconfirmed = new WeakSet<ClientBase>();
  readonly #longSessions = new Set<PoolClient>();
  /** The number of open connections; the pool also counts those that it is opening. */
  #open = 0;
  #refusal: { readonly error?: unknown; readonly until: number } = { until: 0 };

  /**
   * @param limits `min` connections stay open without use
   * @param onConnect called when a connection was opened, which can lead to another server
   */
  constructor(config: ClientConfig, limits: { max: number; min?: number }, onConnect: () => void = () => {}) {
    this.waitTimeout = config.connectionTimeoutMillis ?? 0;
    this.#queryTimeout = config.query_timeout ?? 0;
    this.#pool = new Pool({
      ...config,
      ...limits,
      Client: ExplicitClient,
      // After `close`, the process does not wait for a server that hangs.
      allowExitOnIdle: true,
      onConnect: (client) => this.#prepare(client).then(onConnect),
    });
    this.#pool.on('connect', () => {
      this.#open += 1;
    });
    this.#pool.on('remove', () => {
      this.#open -= 1;
    });
    // The pool removes a connection that fails while it is unused.
    this.#pool.on('error', () => {});
  }

  get statistics(): ConnectionStatistics {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Runs one statement in a transaction of its own, and repeats it after serialization failures. */
  async runStatement(statement: SqlStatement): Promise<readonly ResultRow[]> {
    const deadline = performance.now() + this.waitTimeout;
    for (;;) {
      const client = await this.#connect();
      try {
        const rows = await this.#query(client, statement);
        client.release();
        return rows;
      } catch (error) {
        // Another server may accept the writes that a server refuses, and the next connection may lead to it.
        client.release(!hadNoEffect(error) || isReadOnly(error));
        if (!isSerializationFailure(error) || performance.now() >= deadline) throw error;
      }
      await delay(PAUSE);
    }
  }

  /** Runs one statement that writes. Rejects with an `AnimalStoreError`. */
  async write(text: string, values?: unknown[]): Promise<readonly ResultRow[]> {
    try {
      return await this.runStatement({ text, values: values ?? [] });
    } catch (error) {
      throw writeError(error);
    }
  }

  /** Takes a connection, which ends with the session. `close` ends long sessions, and waits for others. */
  async openSession(isLong = false): Promise<Disposable & { readonly run: RunSql }> {
    const client = await this.#connect();
    const run: RunSql = async (text, values = []) => {
      if (isLong) this.assertOpen();
      try {
        return await this.#query(client, { text, values }, isLong ? LONG_TIMEOUT : this.#queryTimeout);
      } catch (error) {
        // Without a commit, the statements before had no effect.
        throw text === 'COMMIT' ? writeError(error) : storageError(error);
      }
    };
    const end = () => {
      if (!isLong || this.#longSessions.delete(client)) client.release(true);
    };
    if (isLong) {
      this.#longSessions.add(client);
      await run(PREPARE, timeoutsFor(LONG_TIMEOUT)).catch((error) => {
        end();
        throw error;
      });
    }
    return { run, [Symbol.dispose]: end };
  }

  assertOpen(): void {
    if (this.#pool.ending) throw closedError();
  }

  async close(): Promise<void> {
    const ended = this.#pool.end();
    for (const client of this.#longSessions) client.release(true);
    this.#longSessions.clear();
    // A server that hangs closes no connection.
    await waitAtMost(this.waitTimeout + CLOSE_TIMEOUT, ended);
  }

  /** While the server refuses further connections, a call waits for an open one, and fails at once if there is none. */
  async #connect(): Promise<PoolClient> {
    const deadline = performance.now() + this.waitTimeout;
    for (;;) {
      this.assertOpen();
      if (this.#pool.idleCount > 0 || performance.now() >= this.#refusal.until) {
        try {
          return await this.#pool.connect();
        } catch (error) {
          if (isPoolTimeout(error))
            throw storageUnavailable('all connections to the database are in use', error);
          this.#refusal = { error: storageError(error), until: performance.now() + REFUSAL_TIME };
        }
      }
      if (this.#open === 0 || performance.now() >= deadline) throw this.#refusal.error;
      await delay(PAUSE);
    }
  }

  /** A new connection to a server that accepts no writes is refused: the next one may lead to the primary. */
  async #prepare(client: ClientBase): Promise<void> {
    client.on('notice', ({ routine }) => {
      if (routine === WAIT_FOR_STANDBY) this.#unconfirmed.add(client);
    });
    // A connection that fails while it is used rejects the statement in flight.
    client.on('error', () => {});
    const [row] = await this.#query(client, { text: PREPARE, values: timeoutsFor(this.#queryTimeout) });
    if (row?.[0] === 'on') throw new StorageFault('read_only', 'the database server accepts no writes');
  }

  async #query(
    client: ClientBase,
    statement: SqlStatement,
    timeout = this.#queryTimeout,
  ): Promise<readonly ResultRow[]> {
    const query = { ...statement, rowMode: 'array' as const, query_timeout: timeout };
    const { rows } = await client.query<unknown[]>(query);
    if (this.#unconfirmed.has(client)) throw new UnconfirmedCommit();
    return rows;
  }
}

function timeoutsFor(deadline: number): number[] {
  return [STATEMENT_FRACTION, LOCK_FRACTION].map((fraction) => Math.ceil(fraction * deadline));
}
