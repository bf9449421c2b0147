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

interface Waiting {
  /** The processor time when the first of them arrived, or when a request of this connection was last handled. */
  readonly since: number;
  readonly requests: (() => void)[];
}

/**
 * Spreads the requests of many connections over several turns. One request of each connection is handled, in the order of
 * their arrival, then the next one of each: a client that sends many requests at once delays the others by one. Without the
 * queue, a turn would last until the requests of all connections were handled, and as many would arrive in the next one.
 */
export class TurnQueue {
  /** By connection, in the order in which they are handled. */
  readonly #waiting = new Map<object, Waiting>();
  /** When the current turn ends. 0 between turns. */
  #endsAt = 0;
  /** The processor time at the start of the current turn, while requests wait. */
  #time = 0;

  /**
   * How long the server has worked while the next connection waits, in milliseconds of processor time. Refusing requests
   * would not regain the time of other programs.
   */
  get waitingTime(): number {
    if (this.#waiting.size === 0) return 0;
    const [next] = this.#waiting.values();
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
    if (this.#waiting.size === 0) {
      if (now < this.#endsAt) return undefined;
      this.#time = processorTime();
    }
    // Few requests wait, and on some runtimes it takes time to find the connection.
    const { connection } = request;
    return new Promise((begin) => {
      const waiting = this.#waiting.get(connection);
      if (waiting !== undefined) waiting.requests.push(begin);
      else this.#waiting.set(connection, { since: this.#time, requests: [begin] });
    });
  }

  readonly #beginTurn = async (): Promise<void> => {
    this.#endsAt = performance.now() + TURN_TIME;
    if (this.#waiting.size > 0) this.#time = processorTime();
    for (const [connection, { requests }] of this.#waiting) {
      if (performance.now() >= this.#endsAt) break;
      requests.shift()?.();
      this.#waiting.delete(connection);
      // The loop visits this connection again, after the others.
      if (requests.length > 0) this.#waiting.set(connection, { since: this.#time, requests });
      // Lets the request run before the time is measured again.
      await undefined;
    }
    if (this.#waiting.size > 0) setImmediate(this.#beginTurn);
    else this.#endsAt = 0;
  };
}

/** The processor time of this thread in milliseconds, or the elapsed time where the runtime cannot measure it. */
function processorTime(): number {
  if (process.threadCpuUsage === undefined) return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
