/**
 * Closes a connection in two steps (RFC 9112, section 9.6). First, the server ends its side of the connection. After
 * the client has ended its side too, the socket is destroyed. If the socket were destroyed while the client is still
 * sending, the operating system would reset the connection, and the client might lose the response.
 */

import type { Socket } from 'node:net';

/** The maximum time in milliseconds for which a client may send nothing after the last response. */
const SILENCE_TIMEOUT = 1000;

/** The maximum time in milliseconds for which a client may continue to send after the last response. */
const LINGER_TIMEOUT = 30_000;

/**
 * Sends all written data and discards all received data. Destroys the socket when the client has ended its side, or
 * after a timeout.
 */
export function lingeringClose(socket: Socket): void {
  let timer: NodeJS.Timeout | undefined;
  let endsAt = Infinity;
  // The parser of Node.js reads directly from the handle of the socket until a `data` listener is added. After a
  // listener was added, the `data` listener of the parser can be removed.
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
