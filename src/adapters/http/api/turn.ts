/**
 * The number of requests that the server handles in one turn without regard to the time. While fewer connections than
 * this are busy, no turn is too long.
 */
const TURN_REQUESTS = 256;

/**
 * The processor time that the further requests of a turn may take, in milliseconds. The time that other programs take
 * from the server is not counted, because refusing requests would not regain it.
 */
const TURN_TIME = 5;

/** The time is measured with every request whose number in the turn is a multiple of this number. */
const CLOCK_INTERVAL = 16;

/**
 * Measures the current turn, which is an iteration of the event loop. The duration of a turn is the event-loop delay: a
 * connection that is not read in this turn waits until the turn ends. A timer, or `monitorEventLoopDelay`, would measure
 * the delay too late, because Node.js handles up to 49,152 events of a thousand or more busy connections before the next
 * timer.
 */
export class Turn {
  #requests = 0;
  #clockStartedAt = 0;
  #isLong = false;

  /** Counts a request. Returns whether the requests of this turn have taken too long. */
  count(): boolean {
    if (this.#requests === 0) setImmediate(this.#end);
    this.#requests += 1;
    if (this.#requests < TURN_REQUESTS || this.#requests % CLOCK_INTERVAL !== 0) return this.#isLong;
    if (this.#requests === TURN_REQUESTS) this.#clockStartedAt = processorTime();
    else if (processorTime() - this.#clockStartedAt > TURN_TIME) this.#isLong = true;
    return this.#isLong;
  }

  readonly #end = (): void => {
    this.#requests = 0;
    this.#isLong = false;
  };
}

/** Returns the processor time of this thread in milliseconds, or the elapsed time where Node.js cannot measure it. */
function processorTime(): number {
  if (process.threadCpuUsage === undefined) return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
