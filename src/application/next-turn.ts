/** Resolves in the next turn of the event loop. Uses `setTimeout` on platforms that have no `setImmediate`. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
