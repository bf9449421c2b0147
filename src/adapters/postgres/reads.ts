import type { ConnectionPool, ResultRow, SqlStatement } from './connection-pool.ts';
import { type Faults, hadNoEffect, storageError } from './errors.ts';

/** Runs a statement that changes nothing. Rejects with an `AnimalStoreError`. */
export type Read = (statement: SqlStatement) => Promise<readonly ResultRow[]>;

/** A read whose connection hangs or is lost is sent once more, over another one. */
export function readsOver(pool: ConnectionPool, faults: Faults): Read {
  return async (statement) => {
    try {
      const rows = await pool.runStatement(statement).catch((error: unknown) => {
        if (hadNoEffect(error)) throw error;
        return pool.runStatement(statement);
      });
      faults.reportSuccess('read');
      return rows;
    } catch (error) {
      const reason = storageError(error);
      faults.reportFailure('read', reason);
      throw reason;
    }
  };
}
