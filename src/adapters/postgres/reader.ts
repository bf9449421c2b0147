import type { CallQueue, QueuedCall } from '../../application/call-queue.ts';
import { closedError } from '../../application/ports/storage.ts';
import type { Connections, Failure, Row, Statement } from './connections.ts';
import { storageError } from './errors.ts';
import type { Health } from './health.ts';

/** A statement that takes longer, in milliseconds, no longer counts, so that one that hangs holds up no other. */
const STUCK = 20;

/** The weight of the last statement in the average. */
const WEIGHT = 0.1;

type Calls<T, R> = readonly QueuedCall<T, R>[];

export interface ReadKind<T, R> {
  /** The maximum number of calls in one statement. */
  readonly limit: number;
  /** The number of statements in flight while statements are quick: fewer and larger ones cost the server less. */
  readonly quickStatements: number;
  /**
   * When a call takes longer on average, in milliseconds, all connections are used: the server reads from its disk, once
   * for each connection at a time.
   */
  readonly slow: number;
  statementFor(calls: Calls<T, R>): Statement;
  settle(calls: Calls<T, R>, rows: readonly Row[]): void;
}

const QUERIES: ReadKind<Statement, readonly Row[]> = {
  limit: 1,
  quickStatements: 4,
  slow: 5,
  statementFor: ([call]) => call?.item as Statement,
  settle: ([call], rows) => call?.resolve(rows),
};

/** Reads that find at most one row by a key: one of them with the statement `one`, and several with `all`. */
export function lookup<K, R>(
  { name, one, all }: { readonly name: string; readonly one: string; readonly all: string },
  keyOf: (row: Row) => K,
  resultOf: (row: Row) => R,
): ReadKind<K, R | undefined> {
  return {
    limit: 1000,
    quickStatements: 2,
    slow: 1,
    statementFor(calls) {
      const keys = calls.map(({ item }) => item);
      // The server plans a statement with an array of one key for each execution, and one without an array only once.
      if (keys.length === 1) return { name: `${name}-one`, text: one, values: keys };
      return { name, text: all, values: [`{${keys.join()}}`] };
    },
    settle(calls, rows) {
      const found = new Map(rows.map((row) => [keyOf(row), resultOf(row)]));
      for (const { item, resolve } of calls) resolve(found.get(item));
    },
  };
}

interface Lane<T, R> {
  readonly kind: ReadKind<T, R>;
  readonly queue: CallQueue<T, R>;
  /** The statements in flight that do not take long. */
  readonly sent: Set<object>;
  /** How long a call takes on average, in milliseconds. */
  average: number;
}

type AnyLane = Lane<unknown, unknown>;

/**
 * A call waits in the lane of its kind until the end of the turn of the event loop. Then each connection that has nothing
 * to do takes its share of the calls of a lane, and sends them as one statement.
 */
export class Reader {
  readonly query: (statement: Statement) => Promise<readonly Row[]>;
  readonly #connections: Connections;
  readonly #health: Health;
  /** The lane that was sent last is the last one. */
  readonly #lanes: AnyLane[] = [];
  #inFlight = 0;
  #isScheduled = false;
  #isClosed = false;

  constructor(connections: Connections, health: Health) {
    this.#connections = connections;
    this.#health = health;
    this.query = this.readsOf(QUERIES);
  }

  readsOf<T, R>(kind: ReadKind<T, R>): (item: T) => Promise<R> {
    const queue: CallQueue<T, R> = this.#connections.newQueue();
    this.#lanes.push({ kind, queue, sent: new Set(), average: 0 } as Lane<T, R> as AnyLane);
    return (item) => {
      if (this.#isClosed) return Promise.reject(closedError());
      this.#schedule();
      return queue.addCall(item);
    };
  }

  get waiting(): number {
    return this.#lanes.reduce((sum, { queue }) => sum + queue.length, 0);
  }

  close(): void {
    this.#isClosed = true;
    for (const { queue } of this.#lanes) queue.rejectCalls(closedError());
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#sendWaiting);
  }

  readonly #sendWaiting = (): void => {
    this.#isScheduled = false;
    while (this.#sendNext());
  };

  /** Sends one statement, and returns whether there was one to send. */
  #sendNext(): boolean {
    for (const [index, lane] of this.#lanes.entries()) {
      const calls = this.#takeCalls(lane);
      if (calls.length === 0) continue;
      this.#lanes.push(...this.#lanes.splice(index, 1));
      void this.#send(lane, calls);
      return true;
    }
    return false;
  }

  /** Takes the share of the calls of a lane that one connection sends now. */
  #takeCalls({ kind, queue, sent, average }: AnyLane): Calls<unknown, unknown> {
    const free = this.#connections.available - this.#inFlight;
    const room = average > kind.slow ? free : Math.min(free, kind.quickStatements - sent.size);
    if (queue.length === 0 || room <= 0) return [];
    return queue.takeCalls(Math.min(Math.ceil(queue.length / room), kind.limit));
  }

  async #send(lane: AnyLane, calls: Calls<unknown, unknown>): Promise<void> {
    const { kind, sent } = lane;
    const current = { at: performance.now() };
    const release = () => {
      sent.delete(current);
      this.#schedule();
    };
    sent.add(current);
    this.#inFlight += 1;
    const stuck = setTimeout(release, STUCK);
    const outcome = await this.#connections.run(kind.statementFor(calls));
    clearTimeout(stuck);
    this.#inFlight -= 1;
    lane.average += WEIGHT * ((performance.now() - current.at) / calls.length - lane.average);
    if ('rows' in outcome) {
      this.#health.report('read');
      kind.settle(calls, outcome.rows);
    } else this.#fail(lane, calls, outcome);
    release();
  }

  #fail({ queue }: AnyLane, calls: Calls<unknown, unknown>, { error, isUnknown, isUnsent }: Failure): void {
    if (isUnsent && this.#inFlight > 0) {
      // The other connections send these calls.
      queue.putBackCalls(calls);
      return;
    }
    // A call whose connection hangs or is lost is sent once more.
    const isFinal = ({ isRetry }: { isRetry: boolean }) => !isUnknown || isRetry || this.#isClosed;
    queue.retryCalls(calls.filter((call) => !isFinal(call)));
    const failed = calls.filter(isFinal);
    if (failed.length === 0) return;
    this.#health.report('read', error);
    for (const { reject } of failed) reject(storageError(error));
  }
}
