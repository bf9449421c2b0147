import type { Server } from 'node:net';

/** In milliseconds. While clients open connections all the time, the queue is never empty for long. */
const TIMEOUT = 500;

/**
 * Resolves when a server has accepted the connections that clients have opened. The operating system has a queue of them,
 * which it resets when the listening socket is closed. The queue is empty when an iteration of the event loop has accepted
 * none.
 */
export async function acceptQueued(server: Server): Promise<void> {
  const deadline = performance.now() + TIMEOUT;
  // Of the first iteration, only a part is observed.
  let iterations = 2;
  const onConnection = (): void => {
    iterations = 1;
  };
  server.on('connection', onConnection);
  while (iterations > 0 && performance.now() < deadline) {
    iterations -= 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.off('connection', onConnection);
}
