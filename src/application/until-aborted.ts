import { AnimalStoreError, type ErrorCode, type ErrorDetails } from '../domain/errors.ts';

/** Settles as the call does or, if the signal is aborted first, rejects with `error(signal)`, by default the signal's reason. */
export function untilAborted<T>(
  call: Promise<T>,
  signal: AbortSignal | undefined,
  error: (signal: AbortSignal) => unknown = ({ reason }) => reason,
): Promise<T> {
  if (signal === undefined) return call;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(error(signal));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    call.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Yields the items of a page. Throws after an item if the signal is aborted by then. */
export function* itemsUntilAborted<T>(
  items: readonly T[],
  signal: AbortSignal | undefined,
): Generator<T, void> {
  for (const item of items) {
    yield item;
    signal?.throwIfAborted();
  }
}

/** Yields the values of an iteration. Throws as soon as the signal is aborted, even while the next value is awaited. */
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
    // `return()` of a generator waits for the pending value, which may never come. So after an abort, this function does not wait
    // for `return()`.
    await (signal?.aborted ? Promise.race([returned.catch(() => {}), undefined]) : returned);
  }
}

/** The kind of a write. A removal counts as a `change`. */
export type Write = 'create' | 'change';

/** Returns the error of a write that may or may not have been made. A write with an idempotency key can be repeated safely. */
export function unknownOutcome(
  write: Write,
  fault: string,
  details: ErrorDetails,
  code: ErrorCode = 'storage_unavailable',
): AnimalStoreError {
  const outcome = `the pet may be ${write === 'create' ? 'stored' : 'changed'}`;
  const advice = details.idempotencyKey && `: repeat the ${write} with the same Idempotency-Key`;
  return new AnimalStoreError(code, `${fault}; ${outcome}${advice ?? ''}`, details);
}

/** Returns the error of a write whose signal was aborted after the write had begun. */
export function abortedWrite(
  write: Write,
  { reason: cause }: AbortSignal,
  idempotencyKey?: string,
): AnimalStoreError {
  return unknownOutcome(write, `the ${write} was aborted`, { cause, idempotencyKey });
}
