import { HttpError } from './errors.ts';

/**
 * Refuses requests to the API after the server was stopped. The app and the server share one instance. The server calls
 * `stop`, and the app calls `assertAdmitted` for each request to the API.
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

  /** Throws `overloaded` if `stop` was called. Must be called before the body of the request is read. */
  assertAdmitted(): void {
    if (this.#isStopping) throw new HttpError('overloaded', 'the server is stopping');
  }
}
