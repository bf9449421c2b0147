/** Resolves after a time in milliseconds. Rejects with the reason of the signal as soon as it is aborted. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(resolve), milliseconds);
    const abort = (): void => end(() => reject(signal?.reason));
    function end(settle: () => void): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      settle();
    }
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
  });
}
