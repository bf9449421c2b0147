import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type ClientBase, type ClientConfig, Pool, type PoolClient } from 'pg';
import type { ConnectionStatistics } from '../../application/ports/statistics.ts';
import { closedError } from '../../application/ports/storage.ts';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { hadNoEffect, isSerializationFailure, outcomeUnknown, storageError } from './errors.ts';
import { type Row, type Session, sessionOf } from './session.ts';
import { assertConfirmed, watchCommits } from './standby.ts';

/** A statement. The server plans a statement with a name once for each connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The result of one statement. */
export type Outcome =
  /** `server` identifies the run of the database server that has executed the statement. */
  | { readonly rows: readonly Row[]; readonly server: string }
  /**
   * `isUnknown` tells that it is unknown whether the statement had an effect. `isUnsent` tells that there was no connection
   * over which it could be sent.
   */
  | { readonly error: unknown; readonly isUnknown: boolean; readonly isUnsent?: boolean };

export interface ConnectionsOptions {
  /** The maximum number of connections. */
  readonly max: number;
  /** The number of connections that stay open without use. Default: 0. */
  readonly min?: number;
  /** How long a statement may wait for a lock, in milliseconds. By default the deadline of a statement limits this. */
  readonly lockTimeout?: number;
  /** Whether the database is one PostgreSQL server, which has its statistics. Default: false. */
  readonly isOneServer?: boolean;
}

/** How long an unused connection stays open, in milliseconds. */
const IDLE_TIMEOUT = 10_000;

/** How long no new attempt to connect is made after a failed one, in milliseconds. */
const RETRY_INTERVAL = 100;

/** How long a statement of a long session may take, and how long the server may take to close a connection, in milliseconds. */
const LONG_TIMEOUT = 60_000;
const CLOSE_TIMEOUT = 1000;

/** How often a statement that writes is sent at most. */
const ATTEMPTS = 5;

/**
 * The share of the deadline of a statement after which the server cancels the statement, so that a statement that waits
 * for a lock is not stored later. The server does not cancel a commit.
 */
const TIMEOUT_SHARE = 0.9;

/** Prepares a new connection. Further columns follow. */
const PREPARE =
  "SELECT current_setting('transaction_read_only'), set_config('statement_timeout', $1::text, false)";
const LOCK_TIMEOUT = "set_config('lock_timeout', $2::text, false)";

/**
 * Tells two runs of a server apart, also with a crash in between, after which PostgreSQL resets its statistics. The number
 * of a transaction can be used again after a crash.
 */
const SERVER = "concat_ws(' ', pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time())";

/**
 * Connections to the database, each of which carries one statement at a time. A connection whose statement has failed
 * without a definite result is closed. All methods but `run` reject with an `AnimalStoreError`.
 */
export class Connections {
  /** How long a call may wait for a connection, in milliseconds. */
  readonly waitTimeout: number;
  readonly max: number;
  /** Called when an unused connection was lost. */
  onLost: () => void = () => {};
  readonly #pool: Pool;
  readonly #servers = new WeakMap<ClientBase, string>();
  readonly #sockets = new Set<Socket>();
  /** The calls that `close` waits for, and the long sessions that `close` ends. */
  readonly #calls = new Set<Promise<unknown>>();
  readonly #sessions = new Set<() => void>();
  #failure: { readonly error: unknown; readonly until: number } | undefined;
  #closed: Promise<void> | undefined;

  constructor(config: ClientConfig, { max, min = 0, lockTimeout, isOneServer = false }: ConnectionsOptions) {
    this.waitTimeout = config.connectionTimeoutMillis ?? 0;
    this.max = max;
    const statementTimeout = Math.ceil(TIMEOUT_SHARE * (config.query_timeout ?? 0));
    const values = lockTimeout === undefined ? [statementTimeout] : [statementTimeout, lockTimeout];
    const text = [PREPARE, isOneServer ? SERVER : "''", ...(lockTimeout === undefined ? [] : [LOCK_TIMEOUT])];
    const prepare: Statement = { text: text.join(), values };
    this.#pool = new Pool({
      ...config,
      max,
      min,
      idleTimeoutMillis: IDLE_TIMEOUT,
      stream: () => this.#newSocket(),
      onConnect: (client) => this.#prepare(client, prepare),
    });
    // The pool removes a connection that fails while it is unused.
    this.#pool.on('error', () => this.onLost());
  }

  get statistics(): ConnectionStatistics {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /** Runs one statement in a transaction of its own. Never rejects. */
  async run({ name, text, values }: Statement): Promise<Outcome> {
    let client: PoolClient | undefined;
    try {
      client = await this.#connect();
      const { rows } = await client.query<unknown[]>({
        ...(name !== undefined && { name }),
        text,
        values: values as unknown[],
        rowMode: 'array',
      });
      assertConfirmed(client);
      client.release();
      return { rows, server: this.#servers.get(client) ?? '' };
    } catch (error) {
      const isUnknown = client !== undefined && !hadNoEffect(error);
      client?.release(isUnknown || isReadOnly(error));
      return { error, isUnknown, isUnsent: client === undefined };
    }
  }

  /** Runs one statement that writes. Repeats it after a serialization failure. */
  write(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#track(this.#write({ text, values }));
  }

  async #write(statement: Statement): Promise<readonly Row[]> {
    this.assertOpen();
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.run(statement);
      if ('rows' in outcome) return outcome.rows;
      const { error, isUnknown } = outcome;
      if (isSerializationFailure(error) && attempt < ATTEMPTS) continue;
      throw isUnknown ? outcomeUnknown(error) : storageError(error);
    }
  }

  /** Opens a session, calls `body`, and ends the session. */
  session<T>(body: (session: Pick<Session, 'run' | 'commit'>) => Promise<T>): Promise<T> {
    return this.#track(this.#use(body));
  }

  async #use<T>(body: (session: Pick<Session, 'run' | 'commit'>) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let isSound = false;
    try {
      const result = await body(sessionOf(client));
      isSound = true;
      return result;
    } finally {
      client.release(!isSound);
    }
  }

  /** Opens a session in which a statement may take up to a minute. A call of `close` ends it. */
  async openSession(): Promise<Session> {
    const client = await this.#connect();
    const release = () => {
      if (this.#sessions.delete(release)) client.release(true);
    };
    this.#sessions.add(release);
    const session = { ...sessionOf(client, LONG_TIMEOUT), release };
    try {
      await session.run(`SET statement_timeout = ${TIMEOUT_SHARE * LONG_TIMEOUT}`);
      return session;
    } catch (error) {
      release();
      throw error;
    }
  }

  assertOpen(): void {
    if (this.#closed !== undefined) throw closedError();
  }

  /** Waits for the writes in flight, ends the sessions, and disconnects. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#calls);
    for (const end of this.#sessions) end();
    void this.#pool.end();
    const open = [...this.#sockets];
    const closed = open.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    await Promise.race([Promise.all(closed), delay(CLOSE_TIMEOUT, undefined, { ref: false })]);
    for (const socket of open) socket.destroy();
  }

  async #track<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  async #connect(): Promise<PoolClient> {
    this.assertOpen();
    const failure = this.#pool.idleCount === 0 ? this.#failure : undefined;
    if (failure !== undefined && performance.now() < failure.until) throw failure.error;
    try {
      const client = await this.#pool.connect();
      // A connection that fails while it is used rejects the statement in flight.
      if (client.listenerCount('error') === 0) client.on('error', () => {});
      return client;
    } catch (error) {
      const failure = storageError(error);
      this.#failure = { error: failure, until: performance.now() + RETRY_INTERVAL };
      throw failure;
    }
  }

  async #prepare(client: ClientBase, { text, values }: Statement): Promise<void> {
    watchCommits(client);
    const { rows } = await client.query<string[]>({ text, values: [...values], rowMode: 'array' });
    const [readOnly, , server = ''] = rows[0] ?? [];
    if (readOnly === 'on') throw new StorageFault('read_only', 'the database server accepts no writes');
    this.#servers.set(client, server);
  }

  #newSocket(): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    return socket.once('close', () => this.#sockets.delete(socket));
  }
}

/** Another server may accept the writes that this one refuses, and the next connection may lead to it. */
function isReadOnly(error: unknown): boolean {
  return (storageError(error) as Partial<StorageFault>).reason === 'read_only';
}
