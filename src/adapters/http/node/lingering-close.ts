import type { Socket } from 'node:net';

/** After the last response, the connection is closed when the client sends nothing for this time, in milliseconds. */
const SILENCE_TIMEOUT = 1000;

/** For this time after the last response, in milliseconds, a client can keep the connection open by sending data. */
const LINGER_TIMEOUT = 30_000;

/**
 * Sends all written data. Node.js destroys the socket when the client has ended its side too (RFC 9112, section 9.6). The
 * operating system could otherwise reset the connection, and the client could lose the last response. Something must read
 * from the socket meanwhile.
 */
export function lingeringClose(socket: Socket): void {
  const destroy = () => void socket.destroy();
  socket.end(() => {
    if (socket.destroyed) return;
    // A client whose bytes wait is not silent.
    const silence = setTimeout(() => socket.readableLength === 0 && destroy(), SILENCE_TIMEOUT);
    const end = setTimeout(destroy, LINGER_TIMEOUT);
    socket.on('data', () => silence.refresh());
    socket.once('close', () => {
      clearTimeout(silence);
      clearTimeout(end);
    });
  });
}
