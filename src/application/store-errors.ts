import { AnimalStoreError } from '../domain/errors.ts';

/** Returns a rejected promise, because a method that returns a promise must not throw synchronously. */
export function rejectClosed(): Promise<never> {
  return Promise.reject(closedError());
}

export function closedError(): AnimalStoreError {
  return new AnimalStoreError('storage_unavailable', 'the store is closed');
}

export function notSupported(operation: string): AnimalStoreError {
  return new AnimalStoreError('invalid_request', `${operation} is not supported by this storage`);
}
