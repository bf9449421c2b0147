/** Taken when this module is loaded: a program that replaces its timers, as tests do, must not stop an iteration. */
const { setImmediate: afterThisTurn, setTimeout: startTimer } = globalThis;

/** Resolves in the next iteration of the event loop, so that other pending events are handled first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof afterThisTurn === 'function') afterThisTurn(resolve);
    else startTimer(resolve, 0);
  });
}
