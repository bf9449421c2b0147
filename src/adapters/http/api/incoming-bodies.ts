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
  /** For each body, the function that gives it up. The oldest one is the first. */
  readonly #giveUp = new Set<() => void>();

  constructor(limit: number = LIMIT) {
    this.#limit = limit;
  }

  /** Resolves or rejects as `body` does, or rejects with `request_timeout` when the body is given up. */
  receive(body: Promise<Uint8Array>): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => reject(TOO_MANY);
      this.#giveUp.add(giveUp);
      body.then(resolve, reject).finally(() => this.#giveUp.delete(giveUp));
      if (this.#giveUp.size <= this.#limit) return;
      for (const oldest of this.#giveUp) {
        this.#giveUp.delete(oldest);
        oldest();
        return;
      }
    });
  }
}

const TOO_MANY = new HttpError(
  'request_timeout',
  'the body did not arrive while many other requests arrived: send it again',
);
