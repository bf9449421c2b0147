/**
 * Closes a connection in two steps (RFC 9112, section 9.6). First, the server ends its own side of the connection, and
 * still receives data. When the client has ended its side too, the server destroys the socket. If the server destroyed
 * the socket at once, the operating system could reset the connection, and the client could lose the last response.
 */

import type { Socket } from 'node:net';

/** After the last response, the connection is closed when the client sends nothing for this time, in milliseconds. */
const SILENCE_TIMEOUT = 1000;

/** For this time after the last response, in milliseconds, a client can keep the connection open by sending data. */
const LINGER_TIMEOUT = 30_000;

/**
 * Sends all written data, and discards all received data. Destroys the socket when the client has ended its side or a
 * timeout has expired.
 */
export function lingeringClose(socket: Socket): void {
  let timer: NodeJS.Timeout | undefined;
  let endsAt = Infinity;
  // Removing the `data` listener of the HTTP parser stops the parser, but only after another `data` listener was added.
  // Until then, the parser reads directly from the handle of the socket, without a listener.
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
