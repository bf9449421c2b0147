/** Which requests a busy server handles at once, later, or not at all. */

import { needsApiKey } from './authentication.ts';
import { fieldOf, type Stage } from './context.ts';
import { HttpError } from './errors.ts';
import { isHealthCheck } from './health.ts';
import { RefusalDelays } from './refusal-delays.ts';
import { TurnQueue } from './turn-queue.ts';

/** Responses to clients without an API key are delayed when requests have waited for this time, in milliseconds. */
const CROWDED_TIME = 10;

/**
 * Requests are refused when others have waited for this time: those with an API key that was valid when it was last used,
 * and all others. In milliseconds.
 */
const BUSY_TIME = 200;
const BUSY_TIME_OF_STRANGERS = 500;

/** The maximum number of `Authorization` fields that are known to be valid. */
const KNOWN_LIMIT = 1_000;

/** The maximum number of creates in progress: twice as many as the largest transaction of SQLite stores. */
const CREATES_LIMIT = 2_000;

/** The numbers of refused requests, by reason. */
export type Refused = Record<'busy' | 'creates' | 'rate' | 'stopping', number>;

export class Load {
  readonly refused: Refused = { busy: 0, creates: 0, rate: 0, stopping: 0 };
  isStopping = false;
  /** Whether every request under `/v1` is refused. Requests that clients sent before they learned of a stop are not. */
  isRefusing = false;
  /** The requests with an API key that was valid when it was last used, and all others: a crowd of strangers waits alone. */
  readonly #known = new TurnQueue();
  readonly #strangers = new TurnQueue();
  readonly #valid = new Set<string>();
  readonly #delays = new RefusalDelays();
  readonly #createsLimit: number;
  #creates = 0;

  /** @param servers the number of servers that share the limit on creates */
  constructor(servers = 1) {
    this.#createsLimit = Math.ceil(CREATES_LIMIT / servers);
  }

  /**
   * Waits for the turn of a request before its API key is checked. One that {@link limitLoad} will refuse does not wait, and
   * is refused later if its client comes back at once, as are all responses to clients without a key while requests wait.
   */
  readonly takeTurn: Stage = async (ctx, next) => {
    const state = ctx.state.animalStore;
    if (isHealthCheck(state.path)) {
      await next();
      return;
    }
    const authorization = fieldOf(ctx, 'authorization') ?? '';
    const isKnown = this.#valid.has(authorization);
    const queue = isKnown ? this.#known : this.#strangers;
    state.isTooBusy = queue.waitingTime >= (isKnown ? BUSY_TIME : BUSY_TIME_OF_STRANGERS);
    const turn = state.isTooBusy ? undefined : queue.enter();
    if (turn !== undefined) await turn;
    let isRefused = state.isTooBusy;
    try {
      await next();
    } catch (error) {
      isRefused ||= isOverload(error);
      throw error;
    } finally {
      if (needsApiKey(state.path)) this.#setValid(authorization, state.holder !== undefined);
      isRefused ||= state.holder === undefined && this.#isCrowded;
      if (isRefused) await this.#delays.wait(ctx, () => this.isStopping);
    }
  };

  get #isCrowded(): boolean {
    return Math.max(this.#strangers.waitingTime, this.#known.waitingTime) >= CROWDED_TIME;
  }

  /** Refuses requests whose API key was checked. Metrics are needed most meanwhile. */
  limitLoad(metricsPath: string | undefined): Stage {
    return (ctx, next) => {
      const { callerId, isTooBusy, path } = ctx.state.animalStore;
      if (path !== metricsPath) {
        if (this.isRefusing && callerId !== undefined) this.#refuse('stopping', STOPPING);
        if (isTooBusy) this.#refuse('busy', TOO_BUSY);
        if (callerId !== undefined && ctx.method === 'POST') this.#limitCreates();
      }
      return next();
    };
  }

  /** Stands in front of the handler of creates, behind their bodies, which can take long to arrive. */
  readonly countCreate: Stage = async (_, next) => {
    this.#limitCreates();
    this.#creates += 1;
    try {
      await next();
    } finally {
      this.#creates -= 1;
    }
  };

  #limitCreates(): void {
    if (this.#creates >= this.#createsLimit) this.#refuse('creates', TOO_MANY_CREATES);
  }

  #refuse(reason: keyof Refused, error: Error): never {
    this.refused[reason] += 1;
    throw error;
  }

  #setValid(authorization: string, isValid: boolean): void {
    if (!isValid) this.#valid.delete(authorization);
    else if (!this.#valid.has(authorization)) {
      if (this.#valid.size >= KNOWN_LIMIT) this.#valid.clear();
      this.#valid.add(authorization);
    }
  }
}

function isOverload(error: unknown): boolean {
  return error instanceof HttpError && error.code === 'overloaded';
}

// These errors are created only once, because the stack of an error takes much of the time of a refusal.
const STOPPING = new HttpError('overloaded', 'the server is stopping');
const TOO_BUSY = new HttpError('overloaded', 'the server receives more requests than it can handle');
const TOO_MANY_CREATES = new HttpError('overloaded', 'too many pets are being stored');
