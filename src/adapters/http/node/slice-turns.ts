/**
 * The maximum number of slices that are parsed in one iteration of the event loop. More requests than the server handles in
 * an iteration would only wait in other queues, and then be refused.
 */
const SLICES_PER_ITERATION = 2;

/**
 * Lets the connections of a server parse their slices in turn. Creates a function whose promise resolves when a connection
 * may parse one slice, in a later iteration of the event loop.
 */
export function sliceTurns(): () => Promise<void> {
  const waiting: (() => void)[] = [];
  const begin = (): void => {
    for (const resolve of waiting.splice(0, SLICES_PER_ITERATION)) resolve();
    if (waiting.length > 0) setImmediate(begin);
  };
  return () => {
    if (waiting.length === 0) setImmediate(begin);
    return new Promise((resolve) => waiting.push(resolve));
  };
}
