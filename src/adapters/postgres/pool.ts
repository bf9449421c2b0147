import { type Client, type ClientConfig, Pool, type PoolClient } from 'pg';
import type { AnimalStoreError } from '../../domain/errors.ts';
import type { Row } from './connection.ts';
import { closedError, hadNoEffect, isSerializationFailure, outcomeUnknown, storageError } from './errors.ts';

/** The maximum number of connections, and how long an unused connection stays open, in milliseconds. */
const SIZE = 5;
const IDLE_TIMEOUT = 10_000;

/** How long a statement of a session may take, in milliseconds. */
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
  readonly #pool: Pool;
  readonly #writes = new Set<Promise<unknown>>();
  readonly #sessions = new Set<PoolClient>();
  #closed: Promise<void> | undefined;

  constructor(config: ClientConfig) {
    this.#pool = new Pool({ ...config, max: SIZE, idleTimeoutMillis: IDLE_TIMEOUT });
    // The pool removes a connection that fails while it is unused.
    this.#pool.on('error', () => {});
  }

  /** Runs one statement that writes, in a transaction of its own. Repeats it after a serialization failure. */
  async write(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    const client = await this.#connect();
    let isSound = false;
    const writing = repeated(() => rowsOf(client, { text, values })).catch((error: unknown) => {
      throw writeError(error);
    });
    this.#writes.add(writing);
    try {
      const rows = await writing;
      isSound = true;
      return rows;
    } finally {
      this.#writes.delete(writing);
      client.release(!isSound);
    }
  }

  /** Opens a session, calls `body`, and ends the session. */
  async session<T>(body: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.open();
    let isSound = false;
    try {
      const result = await body(session);
      isSound = true;
      return result;
    } finally {
      session.release(isSound);
    }
  }

  /** Opens a session. A call of `close` ends it. */
  async open(): Promise<Session> {
    const client = await this.#connect();
    this.#sessions.add(client);
    return {
      run: (text, values = []) =>
        rowsOf(client, { text, values, timeout: LONG_TIMEOUT }).catch((error: unknown) => {
          throw storageError(error);
        }),
      commit: async () => {
        await rowsOf(client, { text: 'COMMIT', timeout: LONG_TIMEOUT }).catch((error: unknown) => {
          throw writeError(error);
        });
      },
      release: (isSound) => {
        this.#sessions.delete(client);
        client.release(!isSound);
      },
    };
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
    await Promise.allSettled(this.#writes);
    // The pool would wait until the owner of a session releases it.
    const sessions = [...this.#sessions].map((client) => (client as unknown as Client).end());
    const ended = this.#pool.end();
    await (sessions.length === 0 ? ended : Promise.allSettled(sessions));
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
  readonly timeout?: number;
}

async function rowsOf(client: PoolClient, { text, values = [], timeout }: Query): Promise<readonly Row[]> {
  const query = { text, values: [...values], rowMode: 'array' as const };
  const { rows } = await client.query<unknown[]>(
    timeout === undefined ? query : Object.assign(query, { query_timeout: timeout }),
  );
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

function writeError(error: unknown): AnimalStoreError {
  return hadNoEffect(error) ? storageError(error) : outcomeUnknown(error);
}
