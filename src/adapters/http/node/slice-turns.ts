/** If every connection parsed a slice in each iteration, floods of pipelined requests would delay all other clients. */
const SLICES_PER_ITERATION = 2;

/** Creates a function whose promise resolves when a connection may parse a slice, in a later iteration of the event loop. */
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
