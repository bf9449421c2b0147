import type { CallQueue, QueuedCall } from '../../application/call-queue.ts';
import { closedError } from '../../application/ports/storage.ts';
import type { Connections, Failure, Row, Statement } from './connections.ts';
import { storageError } from './errors.ts';
import type { Health } from './health.ts';

/** A statement that takes longer, in milliseconds, no longer counts, so that one that hangs holds up no other. */
const STUCK = 20;

/** Up to this number of calls, each is sent at once. More of them are sent together. */
const FEW = 4;

/** The weight of the last statement in the average. */
const WEIGHT = 0.1;

type Calls<T, R> = readonly QueuedCall<T, R>[];

export interface ReadKind<T, R> {
  /** The maximum number of calls in one statement. */
  readonly limit: number;
  /** How many statements carry some calls while statements are quick. Few and large ones cost less processor time. */
  quickStatements(calls: number): number;
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
  quickStatements: () => 4,
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
    quickStatements: (calls) => (calls > FEW ? 1 : 4),
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

export interface Reader {
  query(statement: Statement): Promise<readonly Row[]>;
  readsOf<T, R>(kind: ReadKind<T, R>): (item: T) => Promise<R>;
  /** The number of calls that are not sent yet. */
  waiting(): number;
  close(): void;
}

/** The calls of one kind. */
interface Lane {
  readonly queue: Pick<CallQueue<never, never>, 'length' | 'rejectCalls'>;
  /** Sends one statement, and returns whether there was one to send. */
  sendNext(): boolean;
}

/**
 * A call waits in the lane of its kind until the end of the turn of the event loop. Then each connection that has nothing
 * to do takes its share of the calls of a lane, and sends them as one statement.
 */
export function newReader(connections: Connections, health: Health): Reader {
  /** The lane that was sent last is the last one. */
  const lanes: Lane[] = [];
  let inFlight = 0;
  let isScheduled = false;
  let isClosed = false;

  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(sendWaiting);
  }

  function sendWaiting(): void {
    isScheduled = false;
    for (let sent = -1; ; ) {
      sent = lanes.findIndex((lane) => lane.sendNext());
      if (sent === -1) return;
      lanes.push(...lanes.splice(sent, 1));
    }
  }

  function readsOf<T, R>(kind: ReadKind<T, R>): (item: T) => Promise<R> {
    const queue = connections.newQueue<T, R>();
    /** The calls of each statement in flight that does not take long. */
    const quick = new Set<Calls<T, R>>();
    let carried = 0;
    /** How long a call takes on average, in milliseconds. */
    let average = 0;

    /** Takes the share of the calls that one connection sends now. */
    function sendNext(): boolean {
      if (queue.length === 0) return false;
      const free = connections.available - inFlight;
      const statements = average > kind.slow ? Infinity : kind.quickStatements(queue.length + carried);
      const room = Math.min(free, statements - quick.size);
      if (room <= 0) return false;
      const calls = queue.takeCalls(Math.min(Math.ceil(queue.length / room), kind.limit));
      if (calls.length > 0) void send(calls);
      return calls.length > 0;
    }

    async function send(calls: Calls<T, R>): Promise<void> {
      const sentAt = performance.now();
      const release = () => {
        if (quick.delete(calls)) carried -= calls.length;
        schedule();
      };
      quick.add(calls);
      carried += calls.length;
      inFlight += 1;
      const stuck = setTimeout(release, STUCK);
      const outcome = await connections.run(kind.statementFor(calls));
      clearTimeout(stuck);
      inFlight -= 1;
      average += WEIGHT * ((performance.now() - sentAt) / calls.length - average);
      if ('rows' in outcome) {
        health.report('read');
        kind.settle(calls, outcome.rows);
      } else fail(calls, outcome);
      release();
    }

    function fail(calls: Calls<T, R>, { error, isUnknown, isUnsent }: Failure): void {
      if (isUnsent && inFlight > 0) {
        // The other connections send these calls.
        queue.putBackCalls(calls);
        return;
      }
      // A call whose connection hangs or is lost is sent once more.
      const isFinal = ({ isRetry }: { isRetry: boolean }) => !isUnknown || isRetry || isClosed;
      queue.retryCalls(calls.filter((call) => !isFinal(call)));
      const failed = calls.filter(isFinal);
      if (failed.length === 0) return;
      health.report('read', error);
      for (const { reject } of failed) reject(storageError(error));
    }

    lanes.push({ queue, sendNext });
    return (item) => {
      if (isClosed) return Promise.reject(closedError());
      schedule();
      return queue.addCall(item);
    };
  }

  return {
    query: readsOf(QUERIES),
    readsOf,
    waiting: () => lanes.reduce((sum, { queue }) => sum + queue.length, 0),
    close() {
      isClosed = true;
      for (const { queue } of lanes) queue.rejectCalls(closedError());
    },
  };
}
