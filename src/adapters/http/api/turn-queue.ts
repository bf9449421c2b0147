/**
 * How long the requests of a queue may take in one turn, an iteration of the event loop, in milliseconds, and their maximum
 * number, because what they read from a storage is read later. The server accepts connections between two turns, so short
 * turns keep no new client waiting.
 */
const TURN_TIME = 2;
const TURN_REQUESTS = 20;

/**
 * Whether requests can wait for each other. The Workers of Cloudflare end the timers of a request with its response, so no
 * request may wait for a turn that another one has begun.
 */
const HAS_TURNS = globalThis.navigator?.userAgent !== 'Cloudflare-Workers';

interface Turn {
  /** The processor time when it began; Infinity before. */
  startedAt: number;
}

/** The requests of one connection that wait. */
interface Waiting {
  readonly begins: (() => void)[];
  /** The first turn that could have handled one of them. */
  since: Turn;
}

/**
 * Spreads the requests of many connections over several turns. One request of each connection is handled, in the order of
 * their arrival, then the next one of each: a client that sends many requests at once delays the others by one.
 */
export class TurnQueue {
  readonly #bySocket = new WeakMap<object, Waiting>();
  readonly #waiting: Waiting[] = [];
  /** When the current turn ends. 0 between turns. */
  #endsAt = 0;
  /** The number of requests that the current turn may still handle. */
  #left = 0;
  /** The processor time at the start of the current turn, while requests wait. */
  #time = 0;
  #nextTurn: Turn = { startedAt: Infinity };

  /**
   * For how long turns have not handled the next connection, in milliseconds of processor time: refusing requests would not
   * regain the time of other programs. An iteration in which very many connections are read is no reason to refuse either.
   */
  get waitingTime(): number {
    const [next] = this.#waiting;
    return next === undefined ? 0 : Math.max(0, this.#time - next.since.startedAt);
  }

  /** Returns `undefined` if a request can be handled immediately, and otherwise a promise of its turn. */
  enter(socket: object): Promise<void> | undefined {
    if (!HAS_TURNS) return undefined;
    const now = performance.now();
    if (this.#endsAt === 0) {
      this.#startTurn(now);
      setImmediate(this.#beginTurn);
    }
    if (this.#waiting.length === 0) {
      if (now < this.#endsAt && this.#left > 0) {
        this.#left -= 1;
        return undefined;
      }
      this.#time = processorTime();
    }
    return new Promise((begin) => {
      const waiting = this.#bySocket.get(socket) ?? { begins: [], since: this.#nextTurn };
      this.#bySocket.set(socket, waiting);
      if (waiting.begins.push(begin) === 1) this.#append(waiting);
    });
  }

  readonly #beginTurn = async (): Promise<void> => {
    this.#startTurn(performance.now());
    if (this.#waiting.length > 0) {
      this.#time = processorTime();
      this.#nextTurn.startedAt = this.#time;
      this.#nextTurn = { startedAt: Infinity };
    }
    while (performance.now() < this.#endsAt && this.#left > 0) {
      this.#left -= 1;
      const next = this.#waiting.shift();
      if (next === undefined) break;
      next.begins.shift()?.();
      if (next.begins.length > 0) this.#append(next);
      // Lets the request run before the time is measured again.
      await undefined;
    }
    if (this.#waiting.length > 0) setImmediate(this.#beginTurn);
    else this.#endsAt = 0;
  };

  #startTurn(now: number): void {
    this.#endsAt = now + TURN_TIME;
    this.#left = TURN_REQUESTS;
  }

  #append(waiting: Waiting): void {
    waiting.since = this.#nextTurn;
    this.#waiting.push(waiting);
  }
}

/** The processor time of this thread in milliseconds, or the elapsed time where the runtime cannot measure it. */
function processorTime(): number {
  if (process.threadCpuUsage === undefined) return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
