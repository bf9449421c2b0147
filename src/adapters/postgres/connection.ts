import { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { Deadlines } from './deadlines.ts';
import { closedError, hadNoEffect, storageError } from './errors.ts';
import { Execution, type KnownColumns } from './execution.ts';
import type { Health, Part } from './health.ts';
import { untilClosed } from './sockets.ts';
import { assertConfirmed, watchCommits } from './standby.ts';
import type { Outcome, Row, Statement } from './statement.ts';

/** How long no new attempt to connect is made after a failed one, in milliseconds. */
const RETRY_INTERVAL = 100;

/**
 * The share of the deadline of a statement after which the server cancels the statement, so that a statement that waits
 * for a lock is not stored later. The server does not cancel a commit.
 */
const TIMEOUT_SHARE = 0.9;

/** An open connection to the server. */
interface Session {
  readonly client: Client;
  readonly socket: Socket;
  readonly knownColumns: KnownColumns;
  readonly deadlines: Deadlines;
}

/**
 * One connection to the database, in which many statements can be in flight. Each statement is a transaction of its
 * own. When the connection is lost, the next call connects again.
 */
export class Connection {
  /** How long a call may wait until it is sent, in milliseconds. */
  readonly waitTimeout: number;
  readonly #config: ClientConfig;
  readonly #timeout: number;
  readonly #part: Part;
  readonly #health: Health;
  #session: Session | undefined;
  #connecting: Promise<Session> | undefined;
  #failure: { readonly error: unknown; readonly until: number } | undefined;
  #isClosed = false;

  constructor(config: ClientConfig, part: Part, health: Health) {
    this.#config = config;
    this.waitTimeout = config.connectionTimeoutMillis ?? 0;
    this.#timeout = config.query_timeout ?? 0;
    this.#part = part;
    this.#health = health;
  }

  /**
   * Sends statements together, and resolves with one outcome for each of them. Each statement takes effect or fails
   * alone. A statement without a response before the deadline of the connection ends the connection.
   */
  send(statements: readonly Statement[]): Promise<Outcome[]> {
    if (this.#session !== undefined) return this.#execute(this.#session, statements);
    return this.#connect().then(
      (session) => this.#execute(session, statements),
      (error: unknown) => statements.map(() => ({ error, isUnknown: false })),
    );
  }

  /** Refuses further statements, waits for the statements in flight, and disconnects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const session = this.#session ?? (await this.#connecting?.catch(() => undefined));
    this.#session = undefined;
    if (session === undefined) return;
    void session.client.end();
    await untilClosed([session.socket]);
  }

  /** Uses one promise for all statements, because a promise for each costs more than the rest of this method. */
  #execute(session: Session, statements: readonly Statement[]): Promise<Outcome[]> {
    return new Promise((resolve) => {
      const outcomes: Outcome[] = [];
      let awaited = statements.length;
      const settle = (index: number, outcome: Outcome) => {
        outcomes[index] = outcome;
        awaited -= 1;
        if (awaited > 0) return;
        session.deadlines.end();
        this.#report(session, outcomes);
        resolve(outcomes);
      };
      session.deadlines.begin();
      // All statements leave in one packet.
      session.socket.cork();
      for (const [index, statement] of statements.entries()) {
        execute(session, statement, (outcome) => settle(index, outcome));
      }
      session.socket.uncork();
    });
  }

  #report(session: Session, outcomes: readonly Outcome[]): void {
    const failures = outcomes.filter((outcome) => 'error' in outcome);
    if (failures.length === 0) this.#health.succeeded(this.#part);
    for (const { error } of failures) this.#health.failed(this.#part, error);
    // A refused row must not hide the failure of another statement.
    if (failures.some(endsSession)) this.#drop(session);
  }

  #connect(): Promise<Session> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (this.#failure !== undefined && performance.now() < this.#failure.until) {
      return Promise.reject(this.#failure.error);
    }
    this.#connecting ??= this.#open()
      .then(
        (session) => {
          this.#session = session;
          return session;
        },
        (error: unknown) => {
          this.#failure = { error, until: performance.now() + RETRY_INTERVAL };
          this.#health.failed(this.#part, error);
          throw error;
        },
      )
      .finally(() => {
        this.#connecting = undefined;
      });
    return this.#connecting;
  }

  async #open(): Promise<Session> {
    const socket = new Socket();
    const client = new Client({ ...this.#config, query_timeout: 0, pipeline: true, stream: () => socket });
    const deadlines = new Deadlines(this.#timeout, () => socket.destroy(new Error('statement timeout')));
    const session: Session = { client, socket, knownColumns: new Map(), deadlines };
    // Each statement in flight rejects when the connection fails or ends.
    client.on('error', () => this.#drop(session));
    client.once('end', () => this.#drop(session));
    watchCommits(client);
    try {
      await client.connect();
      deadlines.begin();
      const { rows } = await client.query<[string]>({
        text: "SELECT current_setting('transaction_read_only'), set_config('statement_timeout', $1, false)",
        values: [`${Math.ceil(TIMEOUT_SHARE * this.#timeout)}`],
        rowMode: 'array',
      });
      deadlines.end();
      if (rows[0]?.[0] === 'on') throw new StorageFault('read_only', 'the database server accepts no writes');
      return session;
    } catch (error) {
      this.#drop(session);
      throw error;
    }
  }

  #drop(session: Session): void {
    if (this.#session === session) this.#session = undefined;
    session.deadlines.clear();
    session.socket.destroy();
  }
}

/** Another server may accept the writes that this one refuses, and the next connection may lead to it. */
function endsSession({ error, isUnknown }: Extract<Outcome, { error: unknown }>): boolean {
  return isUnknown || (storageError(error) as Partial<StorageFault>).reason === 'read_only';
}

function execute(
  { client, knownColumns }: Session,
  statement: Statement,
  settle: (outcome: Outcome) => void,
): void {
  const callback = (failure: unknown, rows: readonly Row[] = []) => {
    try {
      if (failure) throw failure;
      assertConfirmed(client);
    } catch (error) {
      settle({ error, isUnknown: !hadNoEffect(error) });
      return;
    }
    settle({ rows });
  };
  client.query(new Execution(client, statement, knownColumns, callback));
}
