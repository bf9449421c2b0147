import { CallQueue, type QueuedCall } from '../../application/call-queue.ts';
import type { Row, Statement } from './statement.ts';

/** The number of statements in flight while statements are quick. More would divide the waiting calls further. */
const QUICK_STATEMENTS = 4;

/** The smallest share of the calls that a connection takes while statements are quick, because each statement has a price. */
const QUICK_SHARE = 64;

/**
 * Statements are slow when a call takes longer than SLOW on average, or when one of them takes longer than STUCK, in
 * milliseconds. Then all connections are used: the server reads from its disk, once for each connection at a time.
 */
const SLOW = 1;
export const STUCK = 20;

/** The weight of the last statement in the average. */
const WEIGHT = 0.1;

/** The reads of one kind. Those that wait at the same time can be one statement. */
export interface ReadKind<T, R> {
  /** The maximum number of calls in one statement. */
  readonly limit: number;
  statementFor(calls: readonly QueuedCall<T, R>[]): Statement;
  /** Resolves the calls of a statement. */
  settle(calls: readonly QueuedCall<T, R>[], rows: readonly Row[]): void;
}

/** Returns the kind of reads that find at most one row by a key. Reads one row by `one`, and several by `all`. */
export function lookup<K, R>(
  statements: { readonly name: string; readonly one: string; readonly all: string },
  keyOf: (row: Row) => K,
  resultOf: (row: Row) => R,
): ReadKind<K, R | undefined> {
  const { name, one, all } = statements;
  return {
    limit: 1000,
    statementFor([first, ...others]) {
      // The server plans a statement with an array of one key for each execution, and one without an array only once.
      if (others.length === 0) return { name: `${name}-one`, text: one, values: [first?.item] };
      return { name, text: all, values: [`{${first?.item},${others.map(({ item }) => item).join()}}`] };
    },
    settle(calls, rows) {
      const found = new Map<K, R>();
      for (const row of rows) found.set(keyOf(row), resultOf(row));
      for (const { item, resolve } of calls) resolve(found.get(item));
    },
  };
}

/** The waiting calls of one kind, and over how many connections they are sent. */
export class ReadLane<T, R> {
  readonly kind: ReadKind<T, R>;
  readonly queue: CallQueue<T, R>;
  /** When each statement in flight was sent. The oldest one is the first. */
  readonly #inFlight = new Set<{ readonly at: number }>();
  /** How long a call takes on average, in milliseconds. */
  #average = 0;

  /** @param timeout how long a call may wait until it is sent, in milliseconds */
  constructor(kind: ReadKind<T, R>, timeout: number) {
    this.kind = kind;
    this.queue = new CallQueue({
      timeout,
      full: 'too many calls wait for the database',
      late: `the database was busy for ${timeout / 1000} s: the call had no effect`,
    });
  }

  /** Takes the calls that one of `free` connections sends now. */
  takeCalls(free: number): QueuedCall<T, R>[] {
    const [oldest] = this.#inFlight;
    const isStuck = oldest !== undefined && performance.now() - oldest.at >= STUCK;
    const isSlow = this.#average > SLOW;
    const room = isSlow || isStuck ? free : Math.min(free, QUICK_STATEMENTS - this.#inFlight.size);
    if (room <= 0) return [];
    const share = Math.max(Math.ceil(this.queue.length / room), isSlow ? 1 : QUICK_SHARE);
    return this.queue.takeCalls(Math.min(share, this.kind.limit));
  }

  /** Must be called when a statement with a number of calls is sent. Returns a function to call at its end. */
  begin(calls: number): () => void {
    const sent = { at: performance.now() };
    this.#inFlight.add(sent);
    return () => {
      this.#inFlight.delete(sent);
      this.#average += WEIGHT * ((performance.now() - sent.at) / calls - this.#average);
    };
  }
}
