import { HttpError } from './errors.ts';

/**
 * The maximum number of request bodies that arrive at the same time. Each of them takes up to 64 KiB and the memory of
 * its request until the client has sent it completely.
 */
const LIMIT = 1000;

/**
 * Limits the number of request bodies that have arrived in part. Beyond the limit, the oldest of them is given up: the
 * body of a client that does not stall arrives within milliseconds.
 */
export class IncomingBodies {
  readonly #limit: number;
  /** For each body, the function that rejects it. The oldest one is the first. */
  readonly #rejections = new Set<(reason: HttpError) => void>();

  constructor(limit: number = LIMIT) {
    this.#limit = limit;
  }

  /** Resolves or rejects as `body` does, or rejects with `request_timeout` when the body is given up. */
  async receive(body: Promise<Uint8Array>): Promise<Uint8Array> {
    const { promise, reject } = Promise.withResolvers<never>();
    this.#rejections.add(reject);
    const [oldest] = this.#rejections;
    if (oldest !== undefined && this.#rejections.size > this.#limit) {
      this.#rejections.delete(oldest);
      oldest(TOO_MANY);
    }
    try {
      return await Promise.race([body, promise]);
    } finally {
      this.#rejections.delete(reject);
    }
  }
}

const TOO_MANY = new HttpError(
  'request_timeout',
  'the body did not arrive while many other requests arrived: send it again',
);
