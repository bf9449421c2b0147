import type { QueuedCall } from '../storage-kit/call-queue.ts';
import { afterThisTurn } from '../storage-kit/timers.ts';
import type { Connections, Failure, Row, Statement } from './connections.ts';
import { type Faults, storageError } from './errors.ts';

/** A statement that takes longer, in milliseconds, no longer counts, so that one that hangs holds up no other. */
const STUCK = 20;

/** How often PostgreSQL is asked whether it reads from its disk, in milliseconds. */
const ASK_INTERVAL = 500;

/** Whether more connections of this user wait for the disk than run. Others wait for a client, a lock or a commit. */
export const READS_DISK: Statement = {
  name: 'reads-disk',
  text: `SELECT count(*) FILTER (WHERE wait_event_type = 'IO' AND wait_event !~* '^wal')
      > count(*) FILTER (WHERE wait_event_type IS NULL) FROM pg_stat_activity
    WHERE usename = current_user AND datname = current_database() AND pid <> pg_backend_pid()`,
};

type Calls<T, R> = readonly QueuedCall<T, R>[];

/** Reads that can share statements. */
interface ReadKind<T, R> {
  /** The maximum number of calls in one statement. */
  readonly limit: number;
  /** The maximum number of statements at a time. */
  statements(readsDisk: boolean): number;
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
    statements: (readsDisk) => (readsDisk ? Infinity : 2),
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
  /** @param statement called when the statement is sent, or sent once more */
  query(statement: () => Statement): Promise<readonly Row[]>;
  lookup<K, R>(lookup: Lookup<K, R>): (key: K) => Promise<R | undefined>;
  /** All calls that wait share one statement and its result. */
  shared<R>(statement: Statement, resultOf: (rows: readonly Row[]) => R): (nothing?: undefined) => Promise<R>;
  /** The number of calls that are not sent yet. */
  waiting(): number;
}

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
  let readsDisk = false;
  let nextAsk = 0;

  function schedule(): void {
    if (!isScheduled) afterThisTurn(sendWaiting);
    isScheduled = true;
  }

  /** A connection reads one page of the disk at a time, so a slow disk needs many, and a busy processor few. */
  async function askServer(): Promise<void> {
    nextAsk = performance.now() + ASK_INTERVAL;
    inFlight += 1;
    const outcome = await connections.run(READS_DISK);
    inFlight -= 1;
    readsDisk = 'rows' in outcome && outcome.rows[0]?.[0] === true;
    schedule();
  }

  function sendWaiting(): void {
    isScheduled = false;
    const canAsk = inFlight > 1 && inFlight < connections.available;
    if (canAsk && performance.now() >= nextAsk) void askServer();
    const sent = lanes.findIndex((lane) => lane.sendNext());
    if (sent === -1) return;
    lanes.push(...lanes.splice(sent, 1));
    sendWaiting();
  }

  function readsOf<T, R>(kind: ReadKind<T, R>): (item: T) => Promise<R> {
    const queue = connections.newQueue<T, R>();
    /** The calls of each statement in flight that does not take long. In a `Set`, V8 would keep them after their end. */
    const quick: Calls<T, R>[] = [];

    /** Takes the share of the calls that one connection sends now. */
    function sendNext(): boolean {
      const room = Math.min(connections.available - inFlight, kind.statements(readsDisk) - quick.length);
      if (room <= 0) return false;
      const calls = queue.takeCalls(Math.min(Math.ceil(queue.length / room), kind.limit));
      if (calls.length > 0) void send(calls);
      return calls.length > 0;
    }

    async function send(calls: Calls<T, R>): Promise<void> {
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
      if ('rows' in outcome) {
        faults.report({ read: null });
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
    query: readsOf<() => Statement, readonly Row[]>({
      limit: 1,
      statements: (readsDisk) => (readsDisk ? Infinity : 4),
      statementFor: ([call]) => call?.item() as Statement,
      settle: ([call], rows) => call?.resolve(rows),
    }),
    lookup: (lookup) => readsOf(lookupKind(lookup)),
    shared: (statement, resultOf) =>
      readsOf({
        limit: Infinity,
        statements: () => 1,
        statementFor: () => statement,
        settle(calls, rows) {
          const result = resultOf(rows);
          for (const { resolve } of calls) resolve(result);
        },
      }),
    waiting: () => lanes.reduce((sum, { queue }) => sum + queue.length, 0),
  };
}
