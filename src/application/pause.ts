/** Pauses of work that goes on later. */

/** The longest time of a timer. After a longer one, it would fire at once. */
const LONGEST = 2 ** 31 - 1;

/** Resolves after a time in milliseconds. Rejects with the reason of the signal as soon as it is aborted. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(resolve), Math.min(milliseconds, LONGEST));
    const abort = (): void => end(() => reject(signal?.reason));
    function end(settle: () => void): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      settle();
    }
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
  });
}

/** Taken when this module is loaded: a program that replaces its timers, as tests do, must not stop an iteration. */
const { setImmediate: afterThisTurn, setTimeout: startTimer } = globalThis;

/** Resolves in the next iteration of the event loop, so that other pending events are handled first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof afterThisTurn === 'function') afterThisTurn(resolve);
    else startTimer(resolve, 0);
  });
}
