import type { Server } from 'node:net';

/**
 * The maximum time to wait for an empty queue, in milliseconds. The queue is never empty for long while clients open
 * connections all the time.
 */
const TIMEOUT = 500;

/**
 * Resolves when the server has accepted the connections that clients have opened. Until the server accepts a
 * connection, the operating system keeps it in a queue, and resets it when the listening socket is closed. Node.js
 * accepts at most one connection in an iteration of the event loop. The queue is therefore empty when an iteration has
 * accepted none.
 */
export function acceptQueued(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const deadline = performance.now() + TIMEOUT;
    let isEmpty = false;
    const onConnection = (): void => {
      isEmpty = false;
    };
    const onIteration = (): void => {
      if (!isEmpty && performance.now() < deadline) {
        isEmpty = true;
        setImmediate(onIteration);
        return;
      }
      server.off('connection', onConnection);
      resolve();
    };
    server.on('connection', onConnection);
    setImmediate(onIteration);
  });
}
