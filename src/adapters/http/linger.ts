/**
 * How a connection is closed on a client that is still sending: closed at once, the system would reset it, and the
 * client might never see its answer (RFC 9112, section 9.6).
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** How long a client may be silent, or send what is no HTTP, after its answer; milliseconds. */
const LINGER_TIMEOUT = 1000;

/** Sends a whole body, and ends the answer when the request has ended or stopped coming. */
export function endAfterRequest(
  req: IncomingMessage,
  res: ServerResponse,
  body: string | Buffer,
  encoding: BufferEncoding,
): void {
  const end = () => {
    clearTimeout(timer);
    res.end();
  };
  const timer = setTimeout(end, LINGER_TIMEOUT);
  req.on('data', () => timer.refresh());
  req.once('end', end);
  req.once('close', end);
  req.resume();
  res.write(body, encoding);
}

/** Closes a socket whose last answer was written; what still comes is for its owner to pass over. */
export function destroyLater(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_TIMEOUT);
  socket.once('close', () => clearTimeout(timer));
}
