import type { Server } from 'node:net';

/**
 * The maximum time to wait for an empty queue, in milliseconds. The queue is never empty for long while clients open
 * connections all the time.
 */
const TIMEOUT = 500;

/**
 * Resolves when the listening sockets have accepted the connections that clients have opened. Until a connection is
 * accepted, the operating system keeps it in a queue, and resets it when the listening socket is closed. Node.js accepts
 * at most one connection per listening socket in an iteration of the event loop. The queues are therefore empty when an
 * iteration has accepted none.
 */
export function acceptQueued(...sockets: readonly Server[]): Promise<void> {
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
      for (const socket of sockets) socket.off('connection', onConnection);
      resolve();
    };
    for (const socket of sockets) socket.on('connection', onConnection);
    setImmediate(onIteration);
  });
}
