/**
 * These are taken when this module is loaded: a program that replaces its timers, as tests do, must not stop the storage.
 * A deadline keeps the timers of the program.
 */
export const startTimer: typeof setTimeout = globalThis.setTimeout;
export const endTimer: typeof clearTimeout = globalThis.clearTimeout;
export const afterThisTurn: (run: () => void) => void =
  typeof setImmediate === 'function' ? setImmediate : (run) => startTimer(run, 0);
