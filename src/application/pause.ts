/** Pauses for a time, or until the next turn of the event loop. */

import { untilAborted } from './until-aborted.ts';

/** Resolves after a time in milliseconds. Rejects with the reason of the signal as soon as it is aborted. */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const paused = new Promise<void>((resolve) => {
    // A timer with a longer delay would fire at once.
    timer = setTimeout(resolve, Math.min(milliseconds, 2 ** 31 - 1));
  });
  await untilAborted(paused, signal).finally(() => clearTimeout(timer));
}

/** Read when this module is loaded, so that {@link nextTurn} still resolves when a test has replaced the global timers. */
export const afterThisTurn: (resolve: () => void) => unknown =
  globalThis.setImmediate ?? globalThis.setTimeout;

/** Resolves in the next iteration of the event loop, so that other pending events are handled first. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    afterThisTurn(resolve);
  });
}
