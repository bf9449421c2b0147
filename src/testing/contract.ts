/** What the contract suites have in common. They know no test runner: register each case with the one you use. */

/** One thing that an adapter must do. */
export interface ContractCase {
  readonly name: string;
  /** Rejects, with an `AssertionError` of `node:assert`, when it does not do it. */
  run(): Promise<void>;
}

/** An adapter that is open. */
export interface Opened<Port> {
  readonly port: Port;
  /** Called once, at the end of a case. */
  close(): Promise<void>;
}

/** How the suites get at the adapter. */
export interface Subject<Port> {
  /** Opens a new, empty one. */
  open(): Promise<Opened<Port>>;
  /** Opens what was closed again, with everything in it. Left out where nothing lasts. */
  readonly reopen?: (closed: Opened<Port>) => Promise<Opened<Port>>;
}

/** A case over a new adapter, which is closed afterwards. */
export function contractCase<Port>(
  subject: Subject<Port>,
  name: string,
  body: (port: Port) => Promise<void>,
): ContractCase {
  return {
    name,
    async run() {
      const opened = await subject.open();
      try {
        await body(opened.port);
      } finally {
        await opened.close();
      }
    },
  };
}

/** A case in two lives of one adapter: what `first` gives is handed to `second`. None where nothing lasts. */
export function lastingCase<Port, T>(
  { open, reopen }: Subject<Port>,
  name: string,
  first: (port: Port) => Promise<T>,
  second: (port: Port, given: T) => Promise<void>,
): ContractCase[] {
  if (reopen === undefined) return [];
  const run = async () => {
    const before = await open();
    const given = await first(before.port).finally(() => before.close());
    const after = await reopen(before);
    await second(after.port, given).finally(() => after.close());
  };
  return [{ name, run }];
}

/** Lets everything else that waits have its turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
