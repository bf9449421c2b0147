import { AnimalStoreError } from '../../domain/errors.ts';

/** Stores whether a storage is open. All repositories of a storage share one `OpenState`. */
export class OpenState {
  #isClosed = false;

  close(): void {
    this.#isClosed = true;
  }

  /** Throws when `close` has been called. */
  assertOpen(): void {
    if (this.#isClosed) throw new AnimalStoreError('storage_unavailable', 'the storage is closed');
  }
}
