/** Statements, and what comes back from the server. */

/** A statement. The server plans a statement with a name once for each connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

export type Row = readonly unknown[];

export interface Failure {
  readonly error: unknown;
  /** Whether it is unknown whether the statement had an effect. */
  readonly isUnknown: boolean;
  /** Whether there was no connection over which the statement could be sent. */
  readonly isUnsent: boolean;
}

/** The result of one statement. */
export type Outcome = { readonly rows: readonly Row[] } | Failure;

/** Ends a transaction. When it fails, the error says so if it is unknown whether the transaction was committed. */
export const COMMIT = 'COMMIT';

/** Runs a statement in a session. */
export type Run = (text: string, values?: unknown[]) => Promise<readonly Row[]>;

/** A connection that runs statements one after another, in one session of the server. */
export interface Session {
  readonly run: Run;
  /** Closes the connection. Must be called when the session is no longer needed. */
  release(): void;
}
