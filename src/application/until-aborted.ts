import { AnimalStoreError } from '../domain/errors.ts';

/**
 * Waits for a call, at most until its signal is aborted: then rejects with `error()`, by default the reason of the signal. The
 * storage completes the call nevertheless.
 */
export function untilAborted<T>(
  call: Promise<T>,
  signal: AbortSignal | undefined,
  error: (signal: AbortSignal) => unknown = ({ reason }) => reason,
): Promise<T> {
  if (signal === undefined) return call;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(error(signal));
    signal.addEventListener('abort', abort, { once: true });
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The error of a create whose signal was aborted when it had begun. */
export function abortedCreate({ reason }: AbortSignal, idempotencyKey?: string): AnimalStoreError {
  const advice =
    idempotencyKey === undefined ? '' : ': repeat the create with the idempotencyKey of this error';
  return new AnimalStoreError(
    'storage_unavailable',
    `the create was aborted; the pet may be stored${advice}`,
    {
      cause: reason,
      ...(idempotencyKey !== undefined && { idempotencyKey }),
    },
  );
}
