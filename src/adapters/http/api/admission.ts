import { HttpError } from './errors.ts';

/**
 * Refuses requests under `/v1` some time after the server was told to stop. The Koa app and the HTTP server share one
 * instance: the server calls `stop` and `refuse`, and the app calls `assertAdmitted` for each request under `/v1`.
 */
export class Admission {
  #isStopping = false;
  #isRefusing = false;

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Sets `isStopping`. Requests that clients have sent before they learn of the stop are still admitted. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Makes all further calls of `assertAdmitted` throw. */
  refuse(): void {
    this.#isRefusing = true;
  }

  /** Throws `overloaded` if `refuse` was called before. Call this method before you read the body of the request. */
  assertAdmitted(): void {
    if (this.#isRefusing) throw new HttpError('overloaded', 'the server is stopping');
  }
}
