import { setTimeout as delay } from 'node:timers/promises';
import { type ClientBase, type ClientConfig, Pool, type PoolClient } from 'pg';
import { atMost } from '../../application/at-most.ts';
import type { ConnectionStatistics } from '../../application/ports/statistics.ts';
import { closedError } from '../../application/ports/storage.ts';
import { StorageFault, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { CallQueue } from '../storage-kit/call-queue.ts';
import { LONG_TIMEOUT } from './config.ts';
import {
  hadNoEffect,
  isPoolTimeout,
  isReadOnly,
  isSerializationFailure,
  storageError,
  writeError,
} from './errors.ts';

/** How long no new attempt to connect is made after a failed one, in milliseconds. */
const RETRY_INTERVAL = 100;

/** For the end of all connections, in milliseconds. */
const CLOSE_TIMEOUT = 1000;

/** Before a transaction is repeated, in milliseconds. */
const REPEAT_PAUSE = 10;

/**
 * After these shares of its deadline, the server cancels a statement, or its wait for a lock, so that it is not stored
 * later. The wait is cancelled first, because its error does not look like a database that does not respond.
 */
const STATEMENT_SHARE = 0.9;
const LOCK_SHARE = 0.8;

/** Prepares a new connection. A startup parameter would not pass a pooler. */
const PREPARE =
  "SELECT current_setting('transaction_read_only'), set_config('statement_timeout', $1::text, false), set_config('lock_timeout', $2::text, false)";

/** What warns after the cancelled wait of a commit. The text of the warning is translated, and all warnings have one code. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

/** The server plans a statement with a name once for each connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
}

export type Row = readonly unknown[];

export interface Failure {
  readonly error: unknown;
  /** Whether it is unknown whether the statement had an effect. */
  readonly isUnknown: boolean;
  /** Whether there was no connection over which the statement could be sent, although the storage is open. */
  readonly isUnsent: boolean;
}

export type Outcome = { readonly rows: readonly Row[] } | Failure;

export type Run = (text: string, values?: unknown[]) => Promise<readonly Row[]>;

/** Connections that carry one statement at a time. One whose statement has failed without a definite result is closed. */
export class Connections {
  /** How long a call may wait for a connection, in milliseconds. */
  readonly waitTimeout: number;
  /** Called when a connection was opened, which can lead to another server. */
  onConnect: () => void = () => {};
  readonly #pool: Pool;
  readonly #queryTimeout: number;
  /** The connections with a commit that no standby has confirmed. */
  readonly #unconfirmed = new WeakSet<ClientBase>();
  readonly #longSessions = new Set<PoolClient>();
  #failure: { readonly error: unknown; readonly until: number } = { error: undefined, until: 0 };

  /** @param limits `min` connections stay open without use */
  constructor({ query_timeout, ...config }: ClientConfig, limits: { max: number; min?: number }) {
    this.waitTimeout = config.connectionTimeoutMillis ?? 0;
    this.#queryTimeout = query_timeout ?? 0;
    this.#pool = new Pool({
      ...config,
      ...limits,
      // After `close`, the process does not wait for a server that hangs.
      allowExitOnIdle: true,
      onConnect: (client) => this.#prepare(client),
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
    const { totalCount, options } = this.#pool;
    return performance.now() < this.#failure.until ? Math.max(1, totalCount) : options.max;
  }

  newQueue<T, R>(): CallQueue<T, R> {
    return new CallQueue({
      timeout: this.waitTimeout,
      full: 'too many calls wait for the database',
      late: `the database was busy for ${this.waitTimeout / 1000} s: the call had no effect`,
    });
  }

  /** Runs one statement in a transaction of its own, and repeats it after serialization failures. Never rejects. */
  async run(statement: Statement): Promise<Outcome> {
    const deadline = performance.now() + this.waitTimeout;
    for (;;) {
      const outcome = await this.#send(statement);
      if ('rows' in outcome || !isSerializationFailure(outcome.error)) return outcome;
      if (performance.now() >= deadline) return outcome;
      await delay(REPEAT_PAUSE);
    }
  }

  /** Runs one statement that writes, as `run` does. */
  async write(text: string, values: unknown[]): Promise<readonly Row[]> {
    const outcome = await this.run({ text, values });
    if ('rows' in outcome) return outcome.rows;
    throw writeError(outcome.error, outcome.isUnknown);
  }

  /** Opens a connection of its own, which ends with the session. `close` ends long sessions, and waits for others. */
  async openSession(isLong = false): Promise<Disposable & { readonly run: Run }> {
    const client = await this.#connect();
    const run: Run = async (text, values = []) => {
      if (isLong) this.assertOpen();
      try {
        return await this.#query(client, { text, values }, isLong ? LONG_TIMEOUT : undefined);
      } catch (error) {
        // Without a commit, the statements before had no effect.
        throw writeError(error, text === 'COMMIT' && !hadNoEffect(error));
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
    await atMost(this.waitTimeout + CLOSE_TIMEOUT, ended);
  }

  async #send(statement: Statement): Promise<Outcome> {
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
      return { error, isUnknown, isUnsent: client === undefined && !this.#pool.ending };
    }
  }

  async #connect(): Promise<PoolClient> {
    this.assertOpen();
    if (this.#pool.idleCount === 0 && performance.now() < this.#failure.until) throw this.#failure.error;
    try {
      return await this.#pool.connect();
    } catch (error) {
      if (isPoolTimeout(error)) throw storageUnavailable('all connections to the database are in use', error);
      this.#failure = { error: storageError(error), until: performance.now() + RETRY_INTERVAL };
      throw this.#failure.error;
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
    this.onConnect();
  }

  /** The callback saves the driver two functions in properties, which V8 would keep alive with all that they refer to. */
  #query(client: ClientBase, statement: Statement, timeout = this.#queryTimeout): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error('Query read timeout'));
      const timer = timeout > 0 ? setTimeout(late, timeout) : undefined;
      client.query<unknown[]>({ ...statement, rowMode: 'array' }, (error, result) => {
        clearTimeout(timer);
        if (error) reject(error);
        else if (!this.#unconfirmed.has(client)) resolve(result.rows);
        else reject(new StorageFault('not_responding', 'no standby server has confirmed the commit'));
      });
    });
  }
}

function timeoutsFor(deadline: number): number[] {
  return [STATEMENT_SHARE, LOCK_SHARE].map((share) => Math.ceil(share * deadline));
}
