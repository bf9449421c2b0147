import { HttpError } from './errors.ts';

/**
 * Refuses requests under `/v1` after the server was told to stop. The Koa app and the HTTP server share one instance:
 * the server calls `stop`, and the app calls `assertAdmitted` for each request under `/v1`.
 */
export class Admission {
  #isStopping = false;

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Makes all further calls of `assertAdmitted` throw. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Throws `overloaded` if `stop` was called before. Call this method before you read the body of the request. */
  assertAdmitted(): void {
    if (this.#isStopping) throw new HttpError('overloaded', 'the server is stopping');
  }
}
