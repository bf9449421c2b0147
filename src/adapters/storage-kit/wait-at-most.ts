/** Resolves when `promise` resolves or rejects, but after `milliseconds` at the latest. */
export function waitAtMost(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    promise.then(end, end);
  });
}
