import { Socket } from 'node:net';
import { Client, type ClientConfig } from 'pg';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { closedError, hadNoEffect, storageError } from './errors.ts';
import type { Health, Part } from './health.ts';

/** How long no new attempt to connect is made after a failed one, in milliseconds. */
const RETRY_INTERVAL = 100;

/**
 * The codes of the WARNING after which a commit succeeds that a synchronous standby did not confirm: the wait for the
 * standby was cancelled, or the server is stopping.
 */
const UNCONFIRMED = ['57014', '57P01'];

/** A statement. The server plans a statement with a name once for each connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

export type Row = readonly unknown[];

/** The result of one statement. */
export type Outcome =
  | { readonly rows: readonly Row[] }
  /** `isUnknown` tells that it is unknown whether the statement had an effect. */
  | { readonly error: unknown; readonly isUnknown: boolean };

/** An open connection to the server. */
interface Session {
  readonly client: Client;
  readonly socket: Socket;
  /** Whether a commit succeeded that a synchronous standby did not confirm. */
  isUnconfirmed: boolean;
}

/**
 * One connection to the database, in which many statements can be in flight. Each statement is a transaction of its
 * own. When the connection is lost, the next call connects again.
 */
export class Connection {
  readonly #config: ClientConfig;
  readonly #part: Part;
  readonly #health: Health;
  #session: Session | undefined;
  #connecting: Promise<Session> | undefined;
  #failure: { readonly error: unknown; readonly until: number } | undefined;
  #isClosed = false;

  constructor(config: ClientConfig, part: Part, health: Health) {
    this.#config = config;
    this.#part = part;
    this.#health = health;
  }

  /**
   * Sends statements together, and resolves with one outcome for each of them. Each statement takes effect or fails
   * alone. A statement without a response before the deadline of the connection ends the connection.
   */
  async send(statements: readonly Statement[]): Promise<Outcome[]> {
    let session: Session;
    try {
      session = this.#session ?? (await this.#connect());
    } catch (error) {
      return statements.map(() => ({ error, isUnknown: false }));
    }
    const { client, socket } = session;
    // All statements leave in one packet.
    socket.cork();
    const sent = statements.map(({ name, text, values }) =>
      client.query<unknown[]>({ name, text, values: values as unknown[], rowMode: 'array' }),
    );
    socket.uncork();
    const outcomes = (await Promise.allSettled(sent)).map((result): Outcome => {
      if (result.status === 'rejected') return failed(result.reason);
      return session.isUnconfirmed ? failed(unconfirmed()) : { rows: result.value.rows };
    });
    this.#report(session, outcomes);
    return outcomes;
  }

  /** Refuses further statements, waits for the statements in flight, and disconnects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const session = this.#session ?? (await this.#connecting?.catch(() => undefined));
    this.#session = undefined;
    // The server may not respond to the end of the connection.
    if (session !== undefined) await Promise.race([session.client.end(), ended(session.socket)]);
  }

  #report(session: Session, outcomes: readonly Outcome[]): void {
    const failure = outcomes.find((outcome) => 'error' in outcome);
    if (failure === undefined) {
      this.#health.succeeded(this.#part);
      return;
    }
    this.#health.failed(this.#part, failure.error);
    // Another server may accept the writes that this one refuses, and the next connection may lead to it.
    const isReadOnly = (storageError(failure.error) as Partial<StorageFault>).reason === 'read_only';
    if (failure.isUnknown || isReadOnly) this.#drop(session);
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
          session.client.once('end', () => this.#drop(session));
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
    const client = new Client({ ...this.#config, pipeline: true, stream: () => socket });
    const session: Session = { client, socket, isUnconfirmed: false };
    // Each statement in flight rejects when the connection fails, and 'end' follows.
    client.on('error', () => {});
    client.on('notice', ({ severity, code }) => {
      if (severity === 'WARNING' && UNCONFIRMED.includes(code ?? '')) session.isUnconfirmed = true;
    });
    try {
      await client.connect();
      const { rows } = await client.query<[string]>({ text: 'SHOW transaction_read_only', rowMode: 'array' });
      if (rows[0]?.[0] === 'on') throw new StorageFault('read_only', 'the database server accepts no writes');
      return session;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  #drop(session: Session): void {
    if (this.#session === session) this.#session = undefined;
    session.socket.destroy();
  }
}

function failed(error: unknown): Outcome {
  return { error, isUnknown: !hadNoEffect(error) };
}

function unconfirmed(): StorageFault {
  return new StorageFault('not_responding', 'no standby server has confirmed the commit');
}

function ended(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', () => resolve());
  });
}
