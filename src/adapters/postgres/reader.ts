import type { QueuedCall } from '../../application/call-queue.ts';
import type { Connections, Failure, Row, Statement } from './connections.ts';
import { type Faults, storageError } from './errors.ts';

/** A statement that takes longer, in milliseconds, no longer counts, so that one that hangs holds up no other. */
const STUCK = 20;

/** How long statements count as slow until they are measured again, in milliseconds. */
const SLOW_TIME = 2000;

/** The weight of the last statement in the average, and the most that it counts: one slow statement is not enough. */
const WEIGHT = 0.1;
const MOST = 3;

/** Returns how long the event loop has waited, in milliseconds. Where nothing measures it, as on Bun, all time counts. */
function waited(): number {
  const { idle, active } = performance.eventLoopUtilization() ?? { active: 0 };
  return active > 0 ? idle : performance.now();
}

type Calls<T, R> = readonly QueuedCall<T, R>[];

/** Reads that can share statements. */
interface ReadKind<T, R> {
  /** The maximum number of calls in one statement. */
  readonly limit: number;
  /** The maximum number of statements at a time while they are quick. */
  readonly statements: number;
  /** The wait in milliseconds above which a statement with this number of calls reads from the disk of the server. */
  slow(calls: number): number;
  statementFor(calls: Calls<T, R>): Statement;
  settle(calls: Calls<T, R>, rows: readonly Row[]): void;
}

/** Reads that find at most one row by a key: one of them with the statement `one`, and several with `all`. */
export interface Lookup<K, R> {
  readonly name: string;
  readonly one: string;
  readonly all: string;
  keyOf(row: Row): K;
  resultOf(row: Row): R;
}

function lookupKind<K, R>({ name, one, all, keyOf, resultOf }: Lookup<K, R>): ReadKind<K, R | undefined> {
  return {
    limit: 1000,
    statements: 2,
    slow: (calls) => 0.5 + calls / 10,
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
  lookup<K, R>(lookup: Lookup<K, R>): (key: K) => Promise<R | undefined>;
  /** The number of calls that are not sent yet. */
  waiting(): number;
}

/** The calls of one kind. */
interface Lane {
  readonly queue: { readonly length: number };
  /** Sends one statement, and returns whether there was one to send. */
  sendNext(): boolean;
}

/**
 * A call waits in the lane of its kind until the end of the turn of the event loop. Then each connection that has nothing
 * to do takes its share of the calls of a lane, and sends them as one statement.
 */
export function newReader(connections: Connections, faults: Faults): Reader {
  /** The lane that was sent last is the last one. */
  const lanes: Lane[] = [];
  let inFlight = 0;
  let isScheduled = false;

  function schedule(): void {
    if (!isScheduled) setImmediate(sendWaiting);
    isScheduled = true;
  }

  function sendWaiting(): void {
    isScheduled = false;
    const sent = lanes.findIndex((lane) => lane.sendNext());
    if (sent === -1) return;
    lanes.push(...lanes.splice(sent, 1));
    sendWaiting();
  }

  function readsOf<T, R>(kind: ReadKind<T, R>): (item: T) => Promise<R> {
    const queue = connections.newQueue<T, R>();
    /** The calls of each statement in flight that does not take long. In a `Set`, V8 would keep them after their end. */
    const quick: Calls<T, R>[] = [];
    /** The average wait for a statement, as a multiple of the wait above which it is slow. */
    let slowness = 0;
    let slowUntil = 0;

    /** Takes the share of the calls that one connection sends now. */
    function sendNext(): boolean {
      // A disk reads once for each connection at a time.
      const isSlow = performance.now() < slowUntil;
      const statements = isSlow ? Infinity : kind.statements;
      const room = Math.min(connections.available - inFlight, statements - quick.length);
      if (room <= 0) return false;
      const calls = queue.takeCalls(Math.min(Math.ceil(queue.length / room), kind.limit));
      if (calls.length > 0) void send(calls, isSlow);
      return calls.length > 0;
    }

    async function send(calls: Calls<T, R>, isSlow: boolean): Promise<void> {
      const waitedBefore = waited();
      const release = () => {
        if (quick.includes(calls)) quick.splice(quick.indexOf(calls), 1);
        schedule();
      };
      quick.push(calls);
      inFlight += 1;
      const stuck = setTimeout(release, STUCK);
      const outcome = await connections.run(kind.statementFor(calls));
      clearTimeout(stuck);
      inFlight -= 1;
      if (!isSlow) measure(waited() - waitedBefore, kind.slow(calls.length));
      if ('rows' in outcome) {
        faults.report({ read: null });
        kind.settle(calls, outcome.rows);
      } else fail(calls, outcome);
      release();
    }

    /** Not called for many statements at a time, which can be slow because they are many. */
    function measure(wait: number, slow: number): void {
      slowness += WEIGHT * (Math.min(wait / slow, MOST) - slowness);
      if (slowness <= 1) return;
      slowUntil = performance.now() + SLOW_TIME;
      // Next time, two slow statements are enough.
      slowness = 0.6;
    }

    function fail(calls: Calls<T, R>, { error, isUnknown, isUnsent }: Failure): void {
      if (isUnsent && inFlight > 0) {
        // The other connections send these calls.
        queue.putBackCalls(calls);
        return;
      }
      // A call whose connection hangs or is lost is sent once more.
      const failed = isUnknown ? calls.filter(({ isRetry }) => isRetry) : calls;
      if (isUnknown) queue.retryCalls(calls.filter(({ isRetry }) => !isRetry));
      if (failed.length === 0) return;
      const reason = storageError(error);
      faults.report({ read: reason });
      for (const { reject } of failed) reject(reason);
    }

    lanes.push({ queue, sendNext });
    return (item) => {
      schedule();
      return queue.addCall(item);
    };
  }

  return {
    query: readsOf<Statement, readonly Row[]>({
      limit: 1,
      statements: 4,
      slow: () => 3,
      statementFor: ([call]) => call?.item as Statement,
      settle: ([call], rows) => call?.resolve(rows),
    }),
    lookup: (lookup) => readsOf(lookupKind(lookup)),
    waiting: () => lanes.reduce((sum, { queue }) => sum + queue.length, 0),
  };
}
