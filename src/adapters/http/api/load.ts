/** Which requests a busy server handles at once, later, or not at all. */

import { AnimalStoreError } from '../../../domain/errors.ts';
import { fieldOf, isHealthCheck, METRICS_PATH, needsApiKey, type Stage } from './context.ts';
import { HttpError } from './errors.ts';
import { bucketsOf, type RateLimit, RateLimiter, type ServerThread } from './shared-limits.ts';

/**
 * How long the requests of a queue may take in one turn, an iteration of the event loop, in milliseconds. The server
 * accepts connections between two turns, so short turns keep no new client waiting.
 */
const TURN_TIME = 2;

/**
 * In milliseconds of processor time, because refusing requests would not regain the time of other programs. A request that
 * has waited for BUSY_TIME is refused after REFUSAL_TIME, or later if there are many: clients that ignore `Retry-After`
 * would otherwise take the processor time from the requests that are accepted.
 */
const BUSY_TIME = 200;
const REFUSAL_TIME = 1000;

/** The maximum number of `Authorization` fields that are known to be valid. */
const KNOWN_LIMIT = 1_000;

const METRICS_LIMIT: RateLimit = { requests: 10, seconds: 1 };

/** The numbers of refused requests, by reason. */
export type Refused = Record<'busy' | 'rate' | 'stopping', number>;

export class Load {
  readonly refused: Refused = { busy: 0, rate: 0, stopping: 0 };
  isStopping = false;
  /** Whether every request under `/v1` is refused. Requests that clients sent before they learned of a stop are not. */
  isRefusing = false;
  /** The requests with an API key that was valid when it was last used, and all others: a crowd of strangers waits alone. */
  readonly #known = new TurnQueue();
  readonly #strangers = new TurnQueue();
  readonly #valid = new Set<string>();
  readonly #limiter: RateLimiter | undefined;
  readonly #metricsLimiter: RateLimiter;

  /** @param thread set if several servers share the limits */
  constructor(rateLimit?: RateLimit, thread?: ServerThread) {
    this.#limiter = rateLimit && new RateLimiter(rateLimit, bucketsOf('requests', thread));
    this.#metricsLimiter = new RateLimiter(METRICS_LIMIT, bucketsOf('metrics', thread));
  }

  /** Waits for the turn of a request, before its API key is checked. Health checks never wait. */
  readonly takeTurn: Stage = async (ctx, next) => {
    const state = ctx.state.animalStore;
    if (isHealthCheck(state.path)) {
      await next();
      return;
    }
    const authorization = fieldOf(ctx, 'authorization') ?? '';
    const turn = (this.#valid.has(authorization) ? this.#known : this.#strangers).enter();
    if (turn !== undefined) state.isTooBusy = await turn;
    try {
      await next();
    } finally {
      if (needsApiKey(state.path)) this.#setValid(authorization, state.holder !== undefined);
    }
  };

  /** Refuses requests whose API key was checked. Metrics have a limit of their own, because they are needed most meanwhile. */
  readonly limitLoad: Stage = (ctx, next) => {
    const { callerId, isTooBusy, path } = ctx.state.animalStore;
    const isMetrics = path === METRICS_PATH;
    if (!isMetrics && this.isRefusing && callerId !== undefined) this.#refuse('stopping', STOPPING);
    if (!isMetrics && isTooBusy) this.#refuse('busy', TOO_BUSY);
    const limiter = isMetrics ? this.#metricsLimiter : this.#limiter;
    const wait = callerId === undefined ? 0 : (limiter?.takeToken(callerId) ?? 0);
    if (wait > 0) this.#refuse('rate', rateLimited(wait));
    return next();
  };

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

// These errors are created only once, because the stack of an error takes much of the time of a refusal.
const STOPPING = new HttpError('overloaded', 'the server is stopping');
const TOO_BUSY = new HttpError('overloaded', 'the server receives more requests than it can handle');

function rateLimited(milliseconds: number): AnimalStoreError {
  const retryAfter = Math.ceil(milliseconds / 1000);
  const message = `too many requests with this API key: retry after ${retryAfter} s`;
  return new AnimalStoreError('rate_limited', message, { retryAfter });
}

/**
 * Whether requests can wait for each other. The Workers of Cloudflare end the timers of a request with its response, so no
 * request may wait for a turn that another one has begun.
 */
const HAS_TURNS = globalThis.navigator?.userAgent !== 'Cloudflare-Workers';

interface Waiting {
  readonly begin: (isRefused: boolean) => void;
  /** The processor time when the request arrived. */
  readonly since: number;
}

/** Spreads the requests of many connections over several turns, in the order of their arrival. */
export class TurnQueue {
  readonly #waiting: Waiting[] = [];
  /** The requests that have waited for too long. When no other request waits, they are handled after all, newest first. */
  readonly #late: Waiting[] = [];
  /** When the current turn ends. 0 between turns. */
  #endsAt = 0;
  /** The processor time at the start of the current turn, while requests wait. */
  #time = 0;

  /** Returns `undefined` if a request can be handled at once, or else a promise of its turn, and whether it is refused. */
  enter(): Promise<boolean> | undefined {
    if (!HAS_TURNS) return undefined;
    const now = performance.now();
    if (this.#endsAt === 0) {
      this.#endsAt = now + TURN_TIME;
      setImmediate(this.#beginTurn);
    }
    if (!this.#isWaiting) {
      if (now < this.#endsAt) return undefined;
      this.#time = processorTime();
    }
    return new Promise((begin) => {
      this.#waiting.push({ begin, since: this.#time });
    });
  }

  get #isWaiting(): boolean {
    return this.#waiting.length + this.#late.length > 0;
  }

  readonly #beginTurn = async (): Promise<void> => {
    this.#endsAt = performance.now() + TURN_TIME;
    if (this.#isWaiting) this.#time = processorTime();
    for (;;) {
      const late = this.#takeAfter(BUSY_TIME, this.#waiting);
      if (late === undefined) break;
      this.#late.push(late);
    }
    while (performance.now() < this.#endsAt && this.#isWaiting) {
      this.#takeAfter(REFUSAL_TIME, this.#late)?.begin(true);
      (this.#waiting.shift() ?? this.#late.pop())?.begin(false);
      // Lets the requests run before the time is measured again.
      await undefined;
    }
    if (this.#isWaiting) setImmediate(this.#beginTurn);
    else this.#endsAt = 0;
  };

  /** Takes the oldest request from a queue if it has waited for this time. */
  #takeAfter(time: number, queue: Waiting[]): Waiting | undefined {
    const [oldest] = queue;
    return oldest !== undefined && this.#time - oldest.since >= time ? queue.shift() : undefined;
  }
}

/** The processor time of this thread in milliseconds, or the elapsed time where the runtime cannot measure it. */
function processorTime(): number {
  if (process.threadCpuUsage === undefined) return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
