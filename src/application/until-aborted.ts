import { AnimalStoreError, type ErrorCode, type ErrorDetails } from '../domain/errors.ts';

/** Waits for a call until its signal is aborted, and then rejects with `error()`, by default the reason of the signal. */
export function untilAborted<T>(
  call: Promise<T>,
  signal: AbortSignal | undefined,
  error: (signal: AbortSignal) => unknown = ({ reason }) => reason,
): Promise<T> {
  if (signal === undefined) return call;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(error(signal));
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Yields the values of an iteration until the signal is aborted, also while the next value is awaited. */
export async function* iterateUntilAborted<T>(
  values: AsyncIterable<T>,
  signal: AbortSignal | undefined,
): AsyncGenerator<T, void> {
  const iterator = values[Symbol.asyncIterator]();
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { value, done } = await untilAborted(Promise.resolve(iterator.next()), signal);
      if (done) return;
      yield value;
    }
  } finally {
    const returned = Promise.resolve(iterator.return?.());
    // A generator whose next value never comes does not return, either.
    await (signal?.aborted ? Promise.race([returned.catch(() => {}), undefined]) : returned);
  }
}

/** A `change` is also a removal. */
export type Write = 'create' | 'change';

/** The error of a write that may have been made. With an idempotency key, it can be repeated. */
export function unknownOutcome(
  write: Write,
  fault: string,
  details: ErrorDetails,
  code: ErrorCode = 'storage_unavailable',
): AnimalStoreError {
  const outcome = `the pet may be ${write === 'create' ? 'stored' : 'changed'}`;
  const advice = details.idempotencyKey && `: repeat the ${write} with the idempotencyKey of this error`;
  return new AnimalStoreError(code, `${fault}; ${outcome}${advice ?? ''}`, details);
}

/** The error of a write whose signal was aborted when it had begun. */
export function abortedWrite(
  write: Write,
  { reason: cause }: AbortSignal,
  idempotencyKey?: string,
): AnimalStoreError {
  return unknownOutcome(write, `the ${write} was aborted`, { cause, idempotencyKey });
}
