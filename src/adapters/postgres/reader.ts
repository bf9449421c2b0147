import type { QueuedCall } from '../../application/call-queue.ts';
import { closedError } from '../../application/ports/storage.ts';
import type { Pet } from '../../domain/pet.ts';
import type { Connections } from './connections.ts';
import { storageError } from './errors.ts';
import type { Health } from './health.ts';
import { PETS } from './pets.ts';
import { type ReadKind, ReadLane, STUCK } from './read-lane.ts';
import type { Failure, Row, Statement } from './statement.ts';

/** Statements that are sent by themselves. */
const QUERIES: ReadKind<Statement, readonly Row[]> = {
  limit: 1,
  statementFor: ([call]) => call?.item as Statement,
  settle: ([call], rows) => call?.resolve(rows),
};

type Lane = ReadLane<unknown, unknown>;
type Calls = readonly QueuedCall<unknown, unknown>[];

/**
 * Reads over a few connections. A call waits in the lane of its kind. Each connection that has nothing to do takes its
 * share of the calls of a lane, and sends them as one statement. A call without a definite result, because its
 * connection hangs or is lost, is sent once more.
 */
export class Reader {
  readonly #connections: Connections;
  readonly #health: Health;
  /** In the order in which they are sent. The lane that was sent last is the last one. */
  readonly #lanes: Lane[] = [];
  readonly #pets: ReadLane<bigint, Pet | undefined>;
  readonly #queries: ReadLane<Statement, readonly Row[]>;
  /** The number of statements in flight, each of which has a connection of its own. */
  #inFlight = 0;
  /** The number of calls that shared the last statement. */
  #lastCount = 0;
  #isScheduled = false;
  #stuckTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(connections: Connections, health: Health) {
    this.#connections = connections;
    this.#health = health;
    this.#pets = this.addLane(PETS);
    this.#queries = this.addLane(QUERIES);
  }

  find(id: bigint): Promise<Pet | undefined> {
    return this.addCall(this.#pets, id);
  }

  /** Runs a statement that reads. */
  query(statement: Statement): Promise<readonly Row[]> {
    return this.addCall(this.#queries, statement);
  }

  addLane<T, R>(kind: ReadKind<T, R>): ReadLane<T, R> {
    const lane = new ReadLane(kind, this.#connections.waitTimeout);
    this.#lanes.push(lane as Lane);
    return lane;
  }

  /**
   * A call that is alone is sent at once. After a statement with several calls, a call is sent at the end of the turn of the
   * event loop, because more are likely to follow.
   */
  addCall<T, R>({ kind, queue }: ReadLane<T, R>, item: T): Promise<R> {
    if (this.#isClosed) return Promise.reject(closedError());
    const result = queue.addCall(item);
    if (kind.limit === 1 || (this.#inFlight === 0 && this.#lastCount <= 1)) this.#sendWaiting();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(this.#sendWaiting);
    }
    return result;
  }

  /** The number of calls that wait for a connection. */
  get waiting(): number {
    return this.#lanes.reduce((sum, { queue }) => sum + queue.length, 0);
  }

  close(): void {
    this.#isClosed = true;
    for (const { queue } of this.#lanes) queue.rejectCalls(closedError());
  }

  readonly #sendWaiting = (): void => {
    this.#isScheduled = false;
    while (this.#sendNext());
    if (this.waiting > 0) this.#stuckTimer ??= setTimeout(this.#onStuck, STUCK).unref();
  };

  /** Sends one statement, and returns whether there was one to send. */
  #sendNext(): boolean {
    const free = this.#connections.available - this.#inFlight;
    for (const [index, lane] of this.#lanes.entries()) {
      const calls = lane.queue.length > 0 ? lane.takeCalls(free) : [];
      if (calls.length === 0) continue;
      this.#lanes.push(...this.#lanes.splice(index, 1));
      void this.#send(lane, calls);
      return true;
    }
    return false;
  }

  /** When a statement takes long, further connections may be used. */
  readonly #onStuck = (): void => {
    this.#stuckTimer = undefined;
    this.#sendWaiting();
  };

  async #send(lane: Lane, calls: Calls): Promise<void> {
    const end = lane.begin(calls.length);
    this.#inFlight += 1;
    try {
      const outcome = await this.#connections.run(lane.kind.statementFor(calls));
      this.#inFlight -= 1;
      this.#lastCount = calls.length;
      end();
      if ('rows' in outcome) {
        this.#health.succeeded('read');
        lane.kind.settle(calls, outcome.rows);
      } else this.#fail(lane, calls, outcome);
    } catch (error) {
      // A defect of this program. A call that has a result is not changed by this.
      for (const { reject } of calls) reject(error);
    }
    this.#sendWaiting();
  }

  #fail({ queue }: Lane, calls: Calls, { error, isUnknown, isUnsent }: Failure): void {
    if (isUnsent && this.#inFlight > 0) {
      // The other connections send these calls.
      queue.putBackCalls(calls);
      return;
    }
    const again = isUnknown && !this.#isClosed ? calls.filter(({ isRetry }) => !isRetry) : [];
    queue.retryCalls(again);
    if (again.length > 0 && again.length === calls.length) return;
    this.#health.failed('read', error);
    const reason = storageError(error);
    for (const call of calls) if (!again.includes(call)) call.reject(reason);
  }
}
