/** The connections to the database: a pool for single statements, and sessions for long operations. */

import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientBase, type ClientConfig, Pool, type PoolClient } from 'pg';
import type { ConnectionStatistics } from '../../application/ports/statistics.ts';
import { closedError } from '../../application/ports/storage.ts';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { untilAborted } from '../../application/until-aborted.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { codeOf } from '../storage-kit/store-errors.ts';
import type { clientConfig } from './config.ts';
import { type Faults, hadNoEffect, storageError, UnconfirmedCommit, writeError } from './errors.ts';

/** In milliseconds: the time limit of a statement in a session, and the pause before another attempt. */
const LONG_TIMEOUT = 60_000;
const PAUSE = 20;
const QUEUE_LIMIT = 10_000;
const FULL = 'too many calls wait for a connection to the database';
const STANDBY = 'the database server is a standby: the store needs the primary';
/**
 * Sets time limits, so that the server cancels a statement shortly before the driver gives up. Also sets the formats of values, and
 * requests the warning that `prepare` handles. These settings are not sent as startup parameters, which poolers refuse.
 */
const settings = (timeout: number, isLocal: boolean) => `SELECT pg_is_in_recovery(), count(set_config(name,
    CASE name WHEN 'statement_timeout' THEN '${Math.ceil(0.9 * timeout)}' WHEN 'lock_timeout' THEN '${Math.ceil(0.8 * timeout)}'
      WHEN 'DateStyle' THEN 'ISO' WHEN 'array_nulls' THEN 'on' WHEN 'client_min_messages' THEN 'warning' ELSE '0' END, ${isLocal}))
  FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'DateStyle', 'client_min_messages', 'transaction_timeout',
    'idle_session_timeout', 'idle_in_transaction_session_timeout', 'array_nulls', 'extra_float_digits')`;
/** At this level, a statement sees what was committed while the previous one waited for a lock. The default can differ. */
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED';
/** The codes of errors about an outdated plan or a missing prepared statement. These errors mean that nothing was executed. */
const OUTDATED = /^(0A000|26000)$/;

export interface SqlStatement {
  readonly name?: string | undefined;
  readonly text: string;
  readonly values?: unknown[];
}
export type ResultRow = readonly unknown[];
type Rows = Promise<readonly ResultRow[]>;
export type SessionConfig = ClientConfig & { readonly readOnly?: boolean };
type Config = ReturnType<typeof clientConfig> & SessionConfig;

/** Runs statements on a connection of its own. Rejects with an `AnimalStoreError`. */
export interface Session extends Disposable {
  run(text: string, values?: unknown[]): Rows;
  /** Begins a transaction, and sets the time limits in it: behind a pooler, the next transaction can have another connection. */
  begin(mode?: 'READ ONLY'): Promise<void>;
}

/**
 * Closes a connection that fails. Otherwise, if the password cannot be read, the driver would wait until the server closes the
 * connection.
 */
class EndingClient extends Client {
  constructor(config?: ClientConfig) {
    super(config);
    this.connection.on('error', () => this.connection.stream.destroy());
  }
}

export class ConnectionPool {
  readonly waitTimeout: number;
  readonly max: number;
  readonly #config: Config;
  readonly #faults: Faults;
  readonly #pool: Pool;
  readonly #closing = new AbortController();

  constructor(config: Config, faults: Faults, onConnect: () => void) {
    this.waitTimeout = config.connectionTimeoutMillis ?? 0;
    this.max = config.max;
    this.#config = config;
    this.#faults = faults;
    const prepared = (client: ClientBase) => prepare(client, config).then(onConnect);
    // Because of `allowExitOnIdle`, the process does not wait after `close` for a server that hangs.
    const own = { Client: EndingClient, onConnect: prepared };
    this.#pool = new Pool({ ...config, ...own, min: 1, allowExitOnIdle: true });
    this.#pool.on('error', () => {});
  }

  get statistics(): ConnectionStatistics {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  /**
   * When a connection is free, runs the statement that `begin` returns, if any. Tries again when the server accepts no
   * further connection, because an open one can become free. Retries the statement after a serialization failure.
   * Retries it once, unprepared, if its prepared form is missing, or is out of date, for example after `ALTER TABLE`.
   */
  async run(begin: () => SqlStatement | undefined): Rows {
    const { readOnly } = this.#config;
    let isOutdated = false;
    for (const startedAt = performance.now(); ; ) {
      this.assertOpen();
      if (this.#pool.waitingCount >= QUEUE_LIMIT) throw new AnimalStoreError('overloaded', FULL);
      let client: PoolClient | undefined;
      try {
        client = await this.#pool.connect();
        const statement = begin();
        // The session is not made read-only, because a pooler could give it to another client.
        if (readOnly) await query(client, { text: 'BEGIN READ ONLY' });
        const rows = statement
          ? await query(client, { ...statement, ...(isOutdated && { name: undefined }) })
          : [];
        if (readOnly) await query(client, { text: 'COMMIT' });
        client.release();
        return rows;
      } catch (error) {
        const code = codeOf(error);
        const isNews: boolean = !isOutdated && OUTDATED.test(code);
        isOutdated ||= isNews;
        // A server that is read-only (25006) may be an old primary: a new connection may lead to the new primary.
        client?.release(readOnly || isNews || !hadNoEffect(error) || code === '25006');
        const [isTransient, share] = client ? [isNews || code === '40001', 1] : [code === '53300', 0.5];
        const isOver = performance.now() - startedAt >= share * this.waitTimeout;
        // Without a connection, nothing was sent. The caller recognizes this by the `AnimalStoreError`.
        if (!isTransient || isOver) throw client ? error : storageError(error);
      }
      await delay(PAUSE);
    }
  }

  /**
   * Runs one statement that reads, and runs it once more if its connection hangs or is lost. Calls `onSend` when a connection is
   * free. Rejects with an `AnimalStoreError`.
   */
  async read(statement: SqlStatement, onSend?: () => void): Rows {
    const begin = () => {
      onSend?.();
      return statement;
    };
    const again = (error: unknown) => (hadNoEffect(error) ? Promise.reject(error) : this.run(begin));
    try {
      const rows = await this.run(begin).catch(again);
      this.#faults.reportSuccess('read');
      return rows;
    } catch (error) {
      const reason = storageError(error);
      this.#faults.reportFailure('read', reason);
      throw reason;
    }
  }

  /** Runs one statement that writes. Rejects with an `AnimalStoreError`. */
  write(text: string, values: unknown[]): Rows {
    return this.run(() => ({ text, values })).catch((error) => Promise.reject(writeError(error)));
  }

  openSession(): Promise<Session> {
    return openSession(this.#config, this.#closing.signal);
  }

  assertOpen(): void {
    this.#closing.signal.throwIfAborted();
  }

  async close(): Promise<void> {
    this.#closing.abort(closedError());
    // Waits only for a limited time, because a server that hangs does not close its connections.
    const ended = this.#pool.end().catch(() => {});
    await Promise.race([ended, delay(this.waitTimeout + 1000, undefined, { ref: false })]);
  }
}

export async function openSession(config: SessionConfig, signal?: AbortSignal): Promise<Session> {
  signal?.throwIfAborted();
  const client = new Client({ ...config, query_timeout: LONG_TIMEOUT });
  let lost: unknown;
  client.on('error', (error) => (lost ??= error));
  const end = () => {
    signal?.removeEventListener('abort', end);
    client.end().catch(() => {});
    // The process does not wait for a server that hangs.
    (client.connection.stream as Socket).unref();
  };
  signal?.addEventListener('abort', end);
  try {
    // The driver never settles `connect` if `end` is called meanwhile.
    await untilAborted(client.connect(), signal);
    await prepare(client, config);
  } catch (error) {
    end();
    signal?.throwIfAborted();
    throw storageError(error);
  }
  const run: Session['run'] = async (text, values = []) => {
    signal?.throwIfAborted();
    return await query(client, { text, values }).catch((error) => {
      // The first error says why the connection was lost. Unless the commit was sent, nothing was stored.
      if (text === 'COMMIT') throw writeError(lost ?? error);
      signal?.throwIfAborted();
      throw storageError(lost ?? error);
    });
  };
  const begin: Session['begin'] = async (mode = config.readOnly ? 'READ ONLY' : undefined) =>
    void (await run(`${BEGIN} ${mode ?? ''}; ${settings(LONG_TIMEOUT, true)}`));
  return { run, begin, [Symbol.dispose]: end };
}

/** The connections with a commit that no standby has confirmed. */
const unconfirmed = new WeakSet<ClientBase>();

/** Prepares a new connection. Refuses a standby, which may lack acknowledged writes. */
async function prepare(client: ClientBase, { query_timeout: timeout = 0 }: ClientConfig): Promise<void> {
  client.on('notice', ({ routine }) => {
    // This warning says that the wait for a standby was cancelled. Only `routine` identifies it, because its text can be in
    // any language, and all warnings have the same code.
    if (routine === 'SyncRepWaitForLSN') unconfirmed.add(client);
  });
  client.on('error', () => {});
  const [row] = await query(client, { text: settings(timeout, false) });
  if (row?.[0] === true) throw new StorageFault('read_only', STANDBY);
}

async function query(client: ClientBase, statement: SqlStatement): Rows {
  const { rows } = await client.query<unknown[]>({ ...statement, rowMode: 'array' });
  if (unconfirmed.has(client)) throw new UnconfirmedCommit();
  return rows;
}
