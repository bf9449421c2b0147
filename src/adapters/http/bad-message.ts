/** Answers, on the bare socket, to what Node.js could not make a request of. */

import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { OnAnswer } from './answer.ts';
import { errorAnswer, HttpError } from './errors.ts';
import { JSON_HEADERS, NO_STORE, requestIdOf } from './headers.ts';
import { destroyLater } from './linger.ts';

/**
 * Answers and closes the connection. When an answer to a good request is still on its way, it goes first; a request
 * whose body broke off gets this answer as its own.
 *
 * @param fault the code of the parser's error, or `CONNECT`
 */
export function answerBadMessage(
  socket: Duplex,
  fault: string | undefined,
  inFlight: ServerResponse | undefined,
  onAnswer: OnAnswer | undefined,
): void {
  if (refused.has(socket)) return;
  refused.add(socket);
  const isRequestAnswered = inFlight?.headersSent === true && !inFlight.req.complete;
  if (!socket.writable || fault === 'ECONNRESET' || isRequestAnswered) {
    socket.destroy();
  } else if (inFlight?.req.complete && !inFlight.writableFinished) {
    inFlight.once('finish', () => write(socket, fault, onAnswer));
  } else {
    write(socket, fault, onAnswer);
  }
}

/** What comes after garbage is garbage too: Node.js tells of every piece, and nobody needs to know. */
const refused = new WeakSet<Duplex>();

/** `destroySoon` lets the answer out, and does not wait for a client that never reads it. */
function write(socket: Duplex, fault: string | undefined, onAnswer: OnAnswer | undefined): void {
  if (!socket.writable) return;
  const requestId = requestIdOf(undefined);
  const { status, headers, body } = errorAnswer(errorOf(fault), requestId);
  const fields = [...JSON_HEADERS, ...NO_STORE, ...headers, 'X-Request-Id', requestId];
  fields.push('Content-Length', String(Buffer.byteLength(body)), 'Date', new Date().toUTCString());
  if (!fields.includes('Connection')) fields.push('Connection', 'close');
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let index = 0; index < fields.length; index += 2) head += `${fields[index]}: ${fields[index + 1]}\r\n`;
  socket.end(`${head}\r\n${body}`);
  if (fault?.startsWith('HPE_')) destroyLater(socket);
  else if ('destroySoon' in socket && typeof socket.destroySoon === 'function') socket.destroySoon();
  onAnswer?.({
    method: '',
    route: undefined,
    status,
    ms: 0,
    requestId,
    keyId: undefined,
    aborted: undefined,
  });
}

function errorOf(fault: string | undefined): HttpError {
  switch (fault) {
    case 'HPE_HEADER_OVERFLOW':
      return new HttpError('headers_too_large', 'the head of a request must have at most 16 KiB');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpError('request_timeout', 'the request took too long to arrive');
    case 'CONNECT':
      return new HttpError('method_not_allowed', 'CONNECT is not allowed here', [
        'Allow',
        'GET, HEAD, POST, OPTIONS',
      ]);
    default:
      return new HttpError('invalid_request', 'the message is not valid HTTP');
  }
}
