export type Value = string | number | bigint | Uint8Array | null;
export type Statement = readonly [sql: string, ...values: Value[]];

/** Statements that take effect together or not at all. After a statement that changes no row, the others do not run. */
export type Write = readonly Statement[];

/** The effect of the last statement of a write that ran. */
export interface Written {
  readonly changes: number;
  readonly rowId: bigint;
}
