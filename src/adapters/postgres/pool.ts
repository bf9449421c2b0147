import { Socket } from 'node:net';
import { type Client, type ClientConfig, Pool, type PoolClient } from 'pg';
import type { ConnectionStatistics } from '../../application/ports/statistics.ts';
import { closedError, hadNoEffect, isSerializationFailure, outcomeUnknown, storageError } from './errors.ts';
import { untilClosed } from './sockets.ts';
import { assertConfirmed, watchCommits } from './standby.ts';
import type { Row } from './statement.ts';

/** The maximum number of connections, and how long an unused connection stays open, in milliseconds. */
const SIZE = 5;
const IDLE_TIMEOUT = 10_000;

/** How long a statement of a long session may take, in milliseconds. */
const LONG_TIMEOUT = 60_000;

/** How often a statement is sent at most. */
const ATTEMPTS = 5;

/** Runs a statement. */
export type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** A connection that runs statements one after another, in one session of the server. */
export interface Session {
  readonly run: Run;
  /** Commits the transaction. The error says so when it is unknown whether the commit has succeeded. */
  commit(): Promise<void>;
  /** Must be called once. The connection is used again if `isSound` is set, and closed otherwise. */
  release(isSound: boolean): void;
}

/**
 * Connections for what happens seldom: changes of API keys, the removal of old records, imports and exports. An error
 * rejects with an `AnimalStoreError`. After an error, the connection is closed.
 */
export class ConnectionPool {
  /** How long a call may wait, in milliseconds. */
  readonly waitTimeout: number;
  readonly #pool: Pool;
  readonly #sockets = new Set<Socket>();
  /** The calls that `close` waits for, and the long sessions that `close` ends. */
  readonly #calls = new Set<Promise<unknown>>();
  readonly #sessions = new Set<PoolClient>();
  #closed: Promise<void> | undefined;

  constructor(config: ClientConfig) {
    this.waitTimeout = config.connectionTimeoutMillis ?? 0;
    const stream = () => {
      const socket = new Socket();
      this.#sockets.add(socket);
      return socket.once('close', () => this.#sockets.delete(socket));
    };
    this.#pool = new Pool({ ...config, stream, max: SIZE, idleTimeoutMillis: IDLE_TIMEOUT });
    this.#pool.on('connect', watchCommits);
    // The pool removes a connection that fails while it is unused.
    this.#pool.on('error', () => {});
  }

  /** Runs one statement that writes, in a transaction of its own. Repeats it after a serialization failure. */
  write(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.#track(
      this.#use((client) => repeated(() => rowsOf(client, { text, values })).catch(failWrite)),
    );
  }

  /** Opens a session, calls `body`, and ends the session. */
  session<T>(body: (session: Pick<Session, 'run' | 'commit'>) => Promise<T>): Promise<T> {
    return this.#track(this.#use((client) => body(sessionOf(client))));
  }

  /** Opens a session in which a statement may take long. A call of `close` ends it. */
  async open(): Promise<Session> {
    const client = await this.#connect();
    if (this.#closed !== undefined) {
      client.release(true);
      throw closedError();
    }
    this.#sessions.add(client);
    const release = (isSound: boolean) => {
      this.#sessions.delete(client);
      client.release(!isSound);
    };
    return { ...sessionOf(client, LONG_TIMEOUT), release };
  }

  get statistics(): ConnectionStatistics {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
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
    // The pool would wait until the owner of a session releases it.
    for (const client of this.#sessions) void (client as unknown as Client).end();
    void this.#pool.end();
    await untilClosed(this.#sockets);
  }

  async #track<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    try {
      return await call;
    } finally {
      this.#calls.delete(call);
    }
  }

  async #use<T>(body: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let isSound = false;
    try {
      const result = await body(client);
      isSound = true;
      return result;
    } finally {
      client.release(!isSound);
    }
  }

  async #connect(): Promise<PoolClient> {
    this.assertOpen();
    try {
      const client = await this.#pool.connect();
      // A connection that fails while it is used rejects the statement in flight.
      if (client.listenerCount('error') === 0) client.on('error', () => {});
      return client;
    } catch (error) {
      throw storageError(error);
    }
  }
}

interface Query {
  readonly text: string;
  readonly values?: readonly unknown[];
  readonly timeout?: number | undefined;
}

function sessionOf(client: PoolClient, timeout?: number): Pick<Session, 'run' | 'commit'> {
  return {
    run: (text, values = []) =>
      rowsOf(client, { text, values, timeout }).catch((error: unknown) => {
        throw storageError(error);
      }),
    commit: async () => {
      await rowsOf(client, { text: 'COMMIT', timeout }).catch(failWrite);
    },
  };
}

async function rowsOf(client: PoolClient, { text, values = [], timeout }: Query): Promise<readonly Row[]> {
  const query = { text, values: [...values], rowMode: 'array' as const };
  const { rows } = await client.query<unknown[]>(
    timeout === undefined ? query : Object.assign(query, { query_timeout: timeout }),
  );
  assertConfirmed(client);
  return rows;
}

async function repeated<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!isSerializationFailure(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

function failWrite(error: unknown): never {
  throw hadNoEffect(error) ? storageError(error) : outcomeUnknown(error);
}
