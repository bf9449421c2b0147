/** The part of `bun:sqlite` that the peer uses. */
declare module 'bun:sqlite' {
  interface DatabaseOptions {
    readonly create?: boolean;
    readonly readwrite?: boolean;
    readonly safeIntegers?: boolean;
  }

  interface Statement {
    all(...parameters: unknown[]): unknown[];
    get(...parameters: unknown[]): unknown;
    run(...parameters: unknown[]): { readonly lastInsertRowid: number | bigint };
  }

  export class Database {
    constructor(path: string, options?: DatabaseOptions);
    exec(sql: string): unknown;
    prepare(sql: string): Statement;
    close(): void;
  }
}
