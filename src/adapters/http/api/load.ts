/** Which requests a busy server handles at once, later, or not at all. */

import { AnimalStoreError } from '../../../domain/errors.ts';
import { type Context, fieldOf, isHealthCheck, needsApiKey, type Stage } from './context.ts';
import { HttpError } from './errors.ts';
import { bucketsOf, type RateLimit, RateLimiter, type ServerThread } from './shared-limits.ts';
import { TurnQueue } from './turn-queue.ts';

/** A client without a known API key is taken for a silent one after this time, in milliseconds. */
const SILENCE_TIME = 1000;

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
  /** The requests with an API key that was valid when it was last used. */
  readonly #known = new TurnQueue();
  /** All others: those of a client that was silent before, and those of a client that was not, as in a flood. */
  readonly #strangers = new TurnQueue();
  readonly #repeated = new TurnQueue();
  /** When the last request without a known key arrived on each connection. */
  readonly #arrivals = new WeakMap<object, number>();
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
      await this.takeTurnOfAccepted(ctx);
      await next();
      return;
    }
    const authorization = fieldOf(ctx, 'authorization') ?? '';
    const isKnown = this.#valid.has(authorization);
    const queue = this.#queueOf(ctx, isKnown);
    state.isTooBusy = queue.waitingTime >= (isKnown ? BUSY_TIME : BUSY_TIME_OF_STRANGERS);
    const turn = state.isTooBusy ? undefined : queue.enter(ctx.socket);
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
      if (isRefused) await this.#delay(ctx);
    }
  };

  /** As {@link takeTurn}, for health checks and preflight requests: a probe never waits, and a flood is never refused. */
  readonly takeTurnOfAccepted = async (ctx: Context): Promise<void> => {
    if (!this.#isRepeated(ctx)) return;
    await this.#repeated.enter(ctx.socket);
    if (this.#repeated.waitingTime >= CROWDED_TIME) await this.#delay(ctx);
  };

  #queueOf(ctx: Context, isKnown: boolean): TurnQueue {
    if (isKnown) return this.#known;
    return this.#isRepeated(ctx) ? this.#repeated : this.#strangers;
  }

  #isRepeated({ socket }: Context): boolean {
    const now = performance.now();
    const isRepeated = now - (this.#arrivals.get(socket) ?? -Infinity) < SILENCE_TIME;
    this.#arrivals.set(socket, now);
    return isRepeated;
  }

  #delay(ctx: Context): Promise<void> {
    return this.#delays.wait(ctx, () => this.isStopping);
  }

  get #isCrowded(): boolean {
    const queues = [this.#known, this.#strangers, this.#repeated];
    return queues.some(({ waitingTime }) => waitingTime >= CROWDED_TIME);
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

const METRICS_LIMIT: RateLimit = { requests: 10, seconds: 1 };

/**
 * Limits the rate of the requests of each caller. Metrics have a limit of their own, because they are needed most while
 * other requests are refused.
 *
 * @param refused counts the refused requests
 * @param thread set if several servers share the limits
 */
export function limitRate(
  limit: RateLimit | undefined,
  metricsPath: string | undefined,
  refused: Refused,
  thread?: ServerThread,
): Stage {
  const limiter = limit && new RateLimiter(limit, bucketsOf('requests', thread));
  const metricsLimiter = new RateLimiter(METRICS_LIMIT, bucketsOf('metrics', thread));
  return (ctx, next) => {
    const { callerId, path } = ctx.state.animalStore;
    const used = path === metricsPath ? metricsLimiter : limiter;
    const wait = used === undefined || callerId === undefined ? 0 : used.takeToken(callerId);
    if (wait === 0) return next();
    refused.rate += 1;
    const retryAfter = Math.ceil(wait / 1000);
    const message = `too many requests with this API key: retry after ${retryAfter} s`;
    throw new AnimalStoreError('rate_limited', message, { retryAfter });
  };
}

/** A caller that sends a request within this time after a refusal has ignored `Retry-After`. In milliseconds. */
const RETRY_TIME = 1000;

/** The average delay in milliseconds: DELAY_MIN, and DELAY_STEP for each refusal that is delayed already. */
const DELAY_MIN = 1000;
const DELAY_STEP = 10;
const DELAY_MAX = 10_000;

/** How often it is checked whether a delay must end early, in milliseconds. */
const CHECK_INTERVAL = 1000;

/**
 * Delays the responses to clients that send the next request immediately after each refusal. They would take much of the
 * processor time from the requests that the server accepts.
 */
export class RefusalDelays {
  /** The last refusal on each connection. A connection of a proxy can have several callers. */
  readonly #last = new WeakMap<object, { readonly caller: string | undefined; readonly at: number }>();
  #delayed = 0;

  /**
   * Resolves when a refusal may be sent: immediately if it is the first one to a caller on a connection, or when the client
   * has disconnected.
   *
   * @param isStopping ends the delay
   */
  async wait({ socket, state, res }: Context, isStopping: () => boolean): Promise<void> {
    const caller = state.animalStore.callerId;
    const last = this.#last.get(socket);
    const isEarly = last?.caller === caller && performance.now() - (last?.at ?? -Infinity) < RETRY_TIME;
    if (isEarly) {
      const average = Math.min(DELAY_MIN + DELAY_STEP * this.#delayed, DELAY_MAX);
      // The delays differ, so that the responses, and the requests that follow them, do not arrive together.
      let left = average * (0.5 + Math.random());
      this.#delayed += 1;
      for (; left > 0 && !res.destroyed && !isStopping(); left -= CHECK_INTERVAL) {
        const time = Math.min(left, CHECK_INTERVAL);
        await new Promise((resolve) => setTimeout(resolve, time));
      }
      this.#delayed -= 1;
    }
    this.#last.set(socket, { caller, at: performance.now() });
  }
}
