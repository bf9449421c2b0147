/** The number of connections while statements are quick. More would divide the waiting calls into smaller statements. */
const QUICK_CONNECTIONS = 4;

/**
 * Statements are slow when a call takes longer than SLOW on average, or when one of them takes longer than STUCK, in
 * milliseconds. Then all connections are used: the server reads from its disk, once for each connection at a time.
 */
const SLOW = 1;
export const STUCK = 20;

/** The weight of the last statement in the average. */
const WEIGHT = 0.1;

/** For how long no further connection is opened after the server has refused one, in milliseconds. */
const REFUSED_TIME = 10_000;

/** The smallest share of the calls that a connection takes while statements are quick, because each statement has a price. */
const QUICK_SHARE = 16;

/** A statement in flight. */
export interface SentStatement {
  readonly group: string;
  readonly at: number;
}

/** Decides over how many connections reads are sent. */
export class ReadPace {
  readonly #max: number;
  /** The statements in flight. The oldest one is the first. */
  readonly #inFlight = new Set<SentStatement>();
  /** How long a call takes on average, in milliseconds. */
  #average = 0;
  /** The number of connections that the server has granted when it last refused one. */
  #granted = { limit: Infinity, until: 0 };

  /** @param max the maximum number of connections */
  constructor(max: number) {
    this.#max = max;
  }

  /** The number of statements in flight, each of which has a connection of its own. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** The number of connections that may be used now. */
  get limit(): number {
    const now = performance.now();
    const max = now < this.#granted.until ? Math.min(this.#granted.limit, this.#max) : this.#max;
    const [oldest] = this.#inFlight;
    const isStuck = oldest !== undefined && now - oldest.at >= STUCK;
    return this.#isSlow || isStuck ? max : Math.min(QUICK_CONNECTIONS, max);
  }

  get #isSlow(): boolean {
    return this.#average > SLOW;
  }

  /** Returns how many of the waiting calls of a group a free connection takes, which the others can divide. */
  shareOf(waiting: number, free: number): number {
    return Math.max(Math.ceil(waiting / free), this.#isSlow ? 1 : QUICK_SHARE);
  }

  /** Whether a statement of a group is in flight, which does not hang. */
  isInFlight(group: string): boolean {
    const now = performance.now();
    for (const sent of this.#inFlight) if (sent.group === group && now - sent.at < STUCK) return true;
    return false;
  }

  begin(group: string): SentStatement {
    const sent = { group, at: performance.now() };
    this.#inFlight.add(sent);
    return sent;
  }

  /** @param calls the number of calls that shared the statement */
  end(sent: SentStatement, calls: number): void {
    this.#inFlight.delete(sent);
    const ms = (performance.now() - sent.at) / calls;
    this.#average += WEIGHT * (ms - this.#average);
  }

  /** Must be called when the server refused a further connection, while there are statements in flight. */
  connectionRefused(): void {
    this.#granted = { limit: this.#inFlight.size, until: performance.now() + REFUSED_TIME };
  }
}
