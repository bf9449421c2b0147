import { type Client, type Connection, Query } from 'pg';
import type { Row, Statement } from './statement.ts';

type Parse = (text: string) => unknown;

/** The parsers of the columns of each statement that a connection has executed, by the name of the statement. */
export type KnownColumns = Map<string, readonly Parse[]>;

/** What this module uses of the driver, and the type declarations of the driver lack. */
interface DriverConnection extends Pick<Connection, 'sync'> {
  readonly parsedStatements: Readonly<Record<string, string>>;
  readonly submittedNamedStatements: Record<string, string>;
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(call: {
    readonly statement: string;
    readonly values: readonly unknown[];
    readonly valueMapper: typeof encode;
  }): void;
  describe(portal: { readonly type: 'P'; readonly name: '' }): void;
  execute(portal: object): void;
}

const DriverQuery = Query as unknown as new (text: string) => object;

/**
 * One execution of a statement. The query of the driver asks the server to describe the columns at each execution, and
 * reads the description each time. This one asks once for each connection, because the columns of a statement do not
 * change: after such a change of a table, the server refuses the statement.
 *
 * It extends the class of the driver, because a connection with `pipeline` accepts no other query.
 */
export class Execution extends DriverQuery {
  readonly text: string;
  readonly name: string;
  /** Called with an error or with the rows. */
  callback: (error: unknown, rows?: readonly Row[]) => void;
  readonly #client: Client;
  readonly #values: readonly unknown[];
  readonly #known: KnownColumns;
  readonly #rows: Row[] = [];
  #columns: readonly Parse[] | undefined;

  constructor(
    client: Client,
    { name, text, values }: Statement,
    known: KnownColumns,
    callback: Execution['callback'],
  ) {
    super(text);
    this.text = text;
    this.name = name;
    this.callback = callback;
    this.#client = client;
    this.#values = values;
    this.#known = known;
    this.#columns = known.get(name);
  }

  /** Sends the messages of an extended query (PostgreSQL documentation, section "Message Flow"). */
  submit(connection: DriverConnection): void {
    const { name, text } = this;
    if ((connection.parsedStatements[name] ?? connection.submittedNamedStatements[name]) === undefined) {
      connection.parse({ name, text });
      connection.submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values: this.#values, valueMapper: encode });
    if (this.#columns === undefined) connection.describe({ type: 'P', name: '' });
    connection.execute({});
    connection.sync();
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ dataTypeID }) => this.#client.getTypeParser(dataTypeID, 'text') as Parse);
    this.#known.set(this.name, this.#columns);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const columns = this.#columns as readonly Parse[];
    this.#rows.push(fields.map((text, index) => (text === null ? null : (columns[index] as Parse)(text))));
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(undefined, this.#rows);
  }

  handleError(error: unknown): void {
    this.callback(error);
  }
}

/** Converts a value of a parameter to the text format of PostgreSQL. A `Buffer` is sent in the binary format. */
function encode(value: unknown): string | Buffer | null {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) return value;
  if (!Array.isArray(value)) return String(value);
  return `{${value.map((text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join()}}`;
}
