import type { CarriedRequest } from './http.ts';

/**
 * How long the requests of a queue may take in one turn, an iteration of the event loop, in milliseconds. The server
 * accepts connections between two turns, so short turns keep no new client waiting.
 */
const TURN_TIME = 2;

/**
 * Whether requests can wait for each other. The Workers of Cloudflare end the timers of a request with its response, so no
 * request may wait for a turn that another one has begun.
 */
const HAS_TURNS = globalThis.navigator?.userAgent !== 'Cloudflare-Workers';

export type QueuedRequest = Pick<CarriedRequest, 'connection'>;

/** The requests of one connection that wait. */
interface Waiting {
  /** The processor time when the first of them arrived, or when a request of this connection was last handled. */
  since: number;
  readonly requests: (() => void)[];
}

/**
 * Spreads the requests of many connections over several turns. One request of each connection is handled, in the order of
 * their arrival, then the next one of each: a client that sends many requests at once delays the others by one. Without the
 * queue, a turn would last until the requests of all connections were handled, and as many would arrive in the next one.
 */
export class TurnQueue {
  readonly #byConnection = new WeakMap<object, Waiting>();
  /** In the order in which they are handled. In a `Map` that shrinks, V8 would keep them after their end. */
  readonly #waiting: Waiting[] = [];
  /** When the current turn ends. 0 between turns. */
  #endsAt = 0;
  /** The processor time at the start of the current turn, while requests wait. */
  #time = 0;

  /**
   * How long the server has worked while the next connection waits, in milliseconds of processor time. Refusing requests
   * would not regain the time of other programs.
   */
  get waitingTime(): number {
    const [next] = this.#waiting;
    return next === undefined ? 0 : this.#time - next.since;
  }

  /** Returns `undefined` if a request can be handled immediately, and otherwise a promise of its turn. */
  enter(request: QueuedRequest): Promise<void> | undefined {
    if (!HAS_TURNS) return undefined;
    const now = performance.now();
    if (this.#endsAt === 0) {
      this.#endsAt = now + TURN_TIME;
      setImmediate(this.#beginTurn);
    }
    if (this.#waiting.length === 0) {
      if (now < this.#endsAt) return undefined;
      this.#time = processorTime();
    }
    // Few requests wait, and on some runtimes it takes time to find the connection.
    const { connection } = request;
    const waiting = this.#byConnection.get(connection) ?? { since: 0, requests: [] };
    this.#byConnection.set(connection, waiting);
    return new Promise((begin) => {
      if (waiting.requests.push(begin) === 1) this.#append(waiting);
    });
  }

  readonly #beginTurn = async (): Promise<void> => {
    this.#endsAt = performance.now() + TURN_TIME;
    if (this.#waiting.length > 0) this.#time = processorTime();
    while (performance.now() < this.#endsAt) {
      const waiting = this.#waiting.shift();
      if (waiting === undefined) break;
      waiting.requests.shift()?.();
      // The loop visits this connection again, after the others.
      if (waiting.requests.length > 0) this.#append(waiting);
      // Lets the request run before the time is measured again.
      await undefined;
    }
    if (this.#waiting.length > 0) setImmediate(this.#beginTurn);
    else this.#endsAt = 0;
  };

  #append(waiting: Waiting): void {
    waiting.since = this.#time;
    this.#waiting.push(waiting);
  }
}

/** The processor time of this thread in milliseconds, or the elapsed time where the runtime cannot measure it. */
function processorTime(): number {
  if (process.threadCpuUsage === undefined) return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
