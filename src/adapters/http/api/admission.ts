import { HttpError } from './errors.ts';

/**
 * Decides whether requests are admitted. The app and the server share one instance: the app calls `assertAdmitted` for
 * each request to the API, and the server calls `stop` when the server is stopped.
 */
export class Admission {
  #isStopping = false;

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Refuses all further requests to the API. */
  stop(): void {
    this.#isStopping = true;
  }

  /** Throws `overloaded` after `stop` was called. Must be called before the body of the request is read. */
  assertAdmitted(): void {
    if (this.#isStopping) throw new HttpError('overloaded', 'the server is stopping');
  }
}
