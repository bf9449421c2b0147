/**
 * Closes a connection in two steps (RFC 9112, section 9.6): the server's side first, the socket once the client has
 * closed its side too. Closed at once on a client that is still sending, the system would reset the connection, and the
 * client might lose the response.
 */

import type { Socket } from 'node:net';

/** How long a client may be silent after the last response, in milliseconds. */
const SILENCE_TIMEOUT = 1000;

/** How long a client may go on sending after it, in milliseconds. */
const LINGER_TIMEOUT = 30_000;

/** Sends what was written, discards what still arrives, and destroys the socket when the client has ended its side. */
export function lingeringClose(socket: Socket): void {
  let timer: NodeJS.Timeout | undefined;
  let endsAt = Infinity;
  // With a listener for data, Node.js's parser no longer reads past the stream. Then the parser's own can go.
  socket.on('data', () => {});
  socket.removeAllListeners('data');
  socket.on('data', () => {
    if (performance.now() < endsAt) timer?.refresh();
  });
  socket.resume();
  socket.end(() => {
    if (socket.readableEnded || socket.destroyed) {
      socket.destroy();
      return;
    }
    endsAt = performance.now() + LINGER_TIMEOUT;
    timer = setTimeout(() => socket.destroy(), SILENCE_TIMEOUT);
    socket.once('end', () => socket.destroy());
    socket.once('close', () => clearTimeout(timer));
  });
}
