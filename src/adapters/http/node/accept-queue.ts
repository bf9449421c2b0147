import type { Server } from 'node:net';

/**
 * The maximum time to wait for an empty queue, in milliseconds. The queue is never empty for long while clients open
 * connections all the time.
 */
const TIMEOUT = 500;

/**
 * Resolves when the listening sockets of a server have accepted the connections that clients have opened. Until a
 * connection is accepted, the operating system keeps it in a queue, and resets it when the listening socket is closed.
 * Node.js accepts at most one connection per listening socket in an iteration of the event loop. The queues are therefore
 * empty when an iteration has accepted none.
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
