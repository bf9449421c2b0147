import type { PoolClient } from 'pg';
import { hadNoEffect, outcomeUnknown, storageError } from './errors.ts';
import { assertConfirmed } from './standby.ts';

export type Row = readonly unknown[];

/** Runs a statement in a session. */
export type Run = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;

/** A connection that runs statements one after another, in one session of the server. */
export interface Session {
  readonly run: Run;
  /** Commits the transaction. The error says so when it is unknown whether the commit has succeeded. */
  commit(): Promise<void>;
  /** Closes the connection. Must be called when the session is no longer needed. */
  release(): void;
}

/** @param timeout how long a statement may take, in milliseconds; by default the deadline of the connection */
export function sessionOf(client: PoolClient, timeout?: number): Pick<Session, 'run' | 'commit'> {
  const query = async (text: string, values: readonly unknown[]): Promise<readonly Row[]> => {
    const config = { text, values: values as unknown[], rowMode: 'array' as const };
    const withTimeout = timeout === undefined ? config : Object.assign(config, { query_timeout: timeout });
    const { rows } = await client.query<unknown[]>(withTimeout);
    assertConfirmed(client);
    return rows;
  };
  return {
    run: (text, values = []) =>
      query(text, values).catch((error: unknown) => {
        throw storageError(error);
      }),
    commit: async () => {
      await query('COMMIT', []).catch((error: unknown) => {
        throw hadNoEffect(error) ? storageError(error) : outcomeUnknown(error);
      });
    },
  };
}
