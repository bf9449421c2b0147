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

interface Waiting {
  readonly begin: () => void;
  /** The processor time when the request arrived. */
  readonly since: number;
}

/** Spreads the requests of many connections over several turns, in the order of their arrival. */
export class TurnQueue {
  readonly #waiting: Waiting[] = [];
  /** When the current turn ends. 0 between turns. */
  #endsAt = 0;
  /** The processor time at the start of the current turn, while requests wait. */
  #time = 0;

  /**
   * How long the server has worked while the next request waits, in milliseconds of processor time: refusing requests would
   * not regain the time of other programs.
   */
  get waitingTime(): number {
    const [next] = this.#waiting;
    return next === undefined ? 0 : this.#time - next.since;
  }

  /** Returns `undefined` if a request can be handled immediately, and otherwise a promise of its turn. */
  enter(): Promise<void> | undefined {
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
    return new Promise((begin) => {
      this.#waiting.push({ begin, since: this.#time });
    });
  }

  readonly #beginTurn = async (): Promise<void> => {
    this.#endsAt = performance.now() + TURN_TIME;
    if (this.#waiting.length > 0) this.#time = processorTime();
    while (performance.now() < this.#endsAt) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      next.begin();
      // Lets the request run before the time is measured again.
      await undefined;
    }
    if (this.#waiting.length > 0) setImmediate(this.#beginTurn);
    else this.#endsAt = 0;
  };
}

/** The processor time of this thread in milliseconds, or the elapsed time where the runtime cannot measure it. */
function processorTime(): number {
  if (process.threadCpuUsage === undefined) return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
