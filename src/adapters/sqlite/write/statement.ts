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
