/**
 * Calls code of the host, such as an observer, which must not make a request or a write fail, or end the program: its
 * exception and its rejected promise go to `onFailure` only. Returns its result, or `undefined` after an exception.
 */
export function fenced(call: () => unknown, onFailure: (error: unknown) => void = () => {}): unknown {
  try {
    const result = call();
    if (typeof result === 'object') Promise.resolve(result).catch(onFailure);
    return result;
  } catch (error) {
    onFailure(error);
    return undefined;
  }
}
