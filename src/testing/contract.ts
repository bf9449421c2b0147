/** The common parts of the contract suites. The cases do not depend on a test runner: register each one with yours. */

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** A test of one requirement that every adapter for a port must meet. A port is an interface such as `PetRepository`. */
export interface ContractCase {
  readonly name: string;
  /** Resolves when the adapter meets the requirement. Rejects otherwise, usually with an `AssertionError` of `node:assert`. */
  run(): Promise<void>;
}

/** An open adapter: an object that implements the port (the interface under test), and a function that closes it. */
export interface Opened<Port> {
  readonly port: Port;
  /** Called once, when the contract case no longer needs the adapter. */
  close(): Promise<void>;
}

/** The adapter under test: the functions with which the contract cases open it. */
export interface Subject<Port> {
  /** Opens a new, empty store. */
  open(): Promise<Opened<Port>>;
  /** Opens a closed store again, with all its data. An adapter that loses its data on `close` leaves out this function. */
  reopen?(closed: Opened<Port>): Promise<Opened<Port>>;
  /** Opens a second client for the data that `first` uses. An adapter that allows only one client leaves out this function. */
  openSecond?(first: Opened<Port>): Promise<Opened<Port>>;
  /**
   * Moves the clock that decides when idempotency records end, by a number of milliseconds that can be negative. The function can
   * fake the time. Or it can subtract `milliseconds` from the end of each stored record, which has the same effect. Without this
   * function, the cases that need it are left out.
   */
  moveClock?(opened: Opened<Port>, milliseconds: number): void | Promise<void>;
  /** The maximum time until a change of one client is visible to another client, in milliseconds. Default: 1000. */
  readonly visibilityTimeout?: number | undefined;
  /** The time after which a case rejects with an error that names the case, in milliseconds. Default: 100,000. */
  readonly caseTimeout?: number | undefined;
}

/** Waits until a condition is true. Rejects when it is still false after `visibilityTimeout` milliseconds. */
export type Eventually = (condition: () => Promise<boolean>) => Promise<void>;

const POLL_INTERVAL = 5;

/** Creates a contract case that rejects if it takes longer than `caseTimeout`, for example when two clients wait for each other. */
export function endingCase(
  { caseTimeout = 100_000 }: Pick<Subject<unknown>, 'caseTimeout'>,
  name: string,
  work: () => Promise<void>,
): ContractCase {
  const run = async (): Promise<void> => {
    const ending = new AbortController();
    const deadline = sleep(caseTimeout, undefined, ending).then(() =>
      assert.fail(`the case '${name}' has not ended after ${caseTimeout} ms`),
    );
    await Promise.race([work(), deadline]).finally(() => ending.abort());
  };
  return { name, run };
}

/** Asserts that nobody can change an object that the adapter has returned. */
export function assertFrozen(object: unknown, noun: string): void {
  assert.ok(
    Object.isFrozen(object),
    `expected ${noun} to be frozen (Object.freeze), because callers share it`,
  );
}

/** Creates a contract case with a new store, which is closed when the case ends. */
export function contractCase<Port>(
  subject: Subject<Port>,
  name: string,
  body: (port: Port, opened: Opened<Port>) => Promise<void>,
): ContractCase {
  const run = async () => {
    const opened = await subject.open();
    await body(opened.port, opened).finally(() => opened.close());
  };
  return endingCase(subject, name, run);
}

/** Creates contract cases as {@link contractCase} does. The keys of `bodies` are the names of the cases. */
export function contractCases<Port>(
  subject: Subject<Port>,
  bodies: Readonly<Record<string, (port: Port) => Promise<void>>>,
): ContractCase[] {
  return Object.entries(bodies).map(([name, body]) => contractCase(subject, name, body));
}

/**
 * Creates a contract case that calls `first`, closes and reopens the store, and calls `second` with the result of `first`. Returns
 * an empty list when the adapter loses its data on `close`, and so has no `reopen`.
 */
export function lastingCase<Port, T>(
  subject: Subject<Port>,
  name: string,
  first: (port: Port) => Promise<T>,
  second: (port: Port, result: T) => Promise<void>,
): ContractCase[] {
  const { open, reopen } = subject;
  if (reopen === undefined) return [];
  const run = async () => {
    const before = await open();
    const result = await first(before.port).finally(() => before.close());
    const after = await reopen(before);
    await second(after.port, result).finally(() => after.close());
  };
  return [endingCase(subject, name, run)];
}

/**
 * Creates contract cases with two clients of the same data. The keys of `bodies` are the names of the cases. Returns an empty list
 * when the adapter allows only one client, and so has no `openSecond`.
 */
export function twoClientCases<Port>(
  subject: Subject<Port>,
  bodies: Readonly<Record<string, (first: Port, second: Port, eventually: Eventually) => Promise<void>>>,
): ContractCase[] {
  const { openSecond, visibilityTimeout = 1000 } = subject;
  if (openSecond === undefined) return [];
  const eventually: Eventually = async (condition) => {
    // Counts checks instead of milliseconds, so that a pause of the whole machine does not fail the test.
    for (let left = visibilityTimeout / POLL_INTERVAL; !(await condition()); left -= 1) {
      assert.ok(left > 0, `the change is not visible after ${visibilityTimeout} ms`);
      await sleep(POLL_INTERVAL);
    }
  };
  return Object.entries(bodies).map(([name, body]) =>
    contractCase(subject, name, async (port, first) => {
      const second = await openSecond(first);
      await body(port, second.port, eventually).finally(() => second.close());
    }),
  );
}
