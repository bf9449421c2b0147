/**
 * Calls code of the host, such as an observer, which must not make a request or a write fail, or end the program: its
 * exception and its rejected promise are discarded. Returns its result, or `undefined` after an exception.
 */
export function fenced(call: () => unknown): unknown {
  try {
    const result = call();
    if (typeof result === 'object') Promise.resolve(result).catch(() => {});
    return result;
  } catch {
    return undefined;
  }
}
