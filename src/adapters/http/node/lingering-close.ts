/**
 * Closes a connection in two steps (RFC 9112, section 9.6). First, the server ends its side of the connection. When the
 * client has ended the other side, the server destroys the socket. If the server destroyed the socket earlier, the
 * operating system could reset the connection. The client could then lose the response.
 */

import type { Socket } from 'node:net';

/** How long a client may stay silent after the last response, in milliseconds. The connection is then closed. */
const SILENCE_TIMEOUT = 1000;

/** How long received data keeps the connection open after the last response, in milliseconds. */
const LINGER_TIMEOUT = 30_000;

/**
 * Sends all written data, and discards all received data. Destroys the socket when the client has ended its side or a
 * timeout has expired.
 */
export function lingeringClose(socket: Socket): void {
  let timer: NodeJS.Timeout | undefined;
  let endsAt = Infinity;
  // The parser of Node.js reads directly from the handle of the socket until a `data` listener is added. Only then does
  // removing the `data` listener of the parser stop the parser.
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
