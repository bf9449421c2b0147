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
