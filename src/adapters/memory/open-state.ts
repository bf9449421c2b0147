import { closedError } from '../../application/ports/storage.ts';

/** Stores whether a storage is open. All repositories of a storage share one `OpenState`. */
export class OpenState {
  #isClosed = false;

  close(): void {
    this.#isClosed = true;
  }

  /** Throws when `close` has been called. */
  assertOpen(): void {
    if (this.#isClosed) throw closedError();
  }
}
