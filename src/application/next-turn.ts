/**
 * Resolves in the next iteration of the event loop, so that other pending events are handled first. Uses `setTimeout`
 * on platforms that have no `setImmediate`.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
