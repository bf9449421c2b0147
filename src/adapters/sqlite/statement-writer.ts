/** The interface that the repositories use to write to the database. */

export type Value = string | number | bigint | Uint8Array | null;
export type Statement = readonly [sql: string, ...values: Value[]];

/**
 * A write is a list of SQL statements that take effect together or not at all. When a statement changes no row, the
 * statements after it do not run.
 */
export type Write = readonly Statement[];

/** The effect of the last statement of a write that ran: the number of changed rows, and the id of the last inserted row. */
export interface Written {
  readonly changes: number;
  readonly rowId: bigint;
}

export interface StatementWriter {
  /**
   * Runs the statements of one write. Resolves with the effect of the last statement when the write is durable. Rejects
   * with `overloaded` when the write queue is full. Rejects with `storage_unavailable` when the write could not be
   * stored in time.
   */
  run(...write: Statement[]): Promise<Written>;
}
